// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Token} from "./Token.sol";

/// @notice Deploys tokens by CREATE and by CREATE2, and minimal proxies (EIP-1167) of any contract.
contract Factory {
    event Deployed(address indexed deployed, bytes32 indexed salt);

    error DeploymentFailed();

    address[] public deployments;
    mapping(address => uint256) public indexOf;

    function createToken(string calldata name, string calldata symbol) external returns (address token) {
        token = address(new Token(name, symbol, msg.sender, 1000 ether));
        _register(token, 0);
    }

    /// @dev Reverts for a salt that was used with the same arguments.
    function createToken2(string calldata name, string calldata symbol, bytes32 salt) external returns (address token) {
        token = address(new Token{salt: salt}(name, symbol, msg.sender, 1000 ether));
        _register(token, salt);
    }

    function clone(address target, bytes32 salt) external returns (address proxy) {
        assembly ("memory-safe") {
            mstore(0, or(shr(232, shl(96, target)), 0x3d602d80600a3d3981f3363d3d373d3d3d363d73000000))
            mstore(32, or(shl(120, target), 0x5af43d82803e903d91602b57fd5bf3))
            proxy := create2(0, 9, 55, salt)
        }
        if (proxy == address(0)) revert DeploymentFailed();
        _register(proxy, salt);
    }

    function deployedCount() external view returns (uint256) {
        return deployments.length;
    }

    function _register(address deployed, bytes32 salt) private {
        indexOf[deployed] = deployments.length;
        deployments.push(deployed);
        emit Deployed(deployed, salt);
    }
}
