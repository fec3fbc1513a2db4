// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice A contract that is destroyed in the transaction that creates it, or stays.
contract Ephemeral {
    uint256 public runs = 0;
    mapping(uint256 => uint256) public results;

    constructor() payable {}

    function work(uint256 rounds) external returns (uint256 result) {
        for (uint256 i; i < rounds; i++) {
            result = uint256(keccak256(abi.encode(result, i)));
            results[i] = result;
        }
        runs++;
    }

    function destroy(address payable beneficiary) external {
        selfdestruct(beneficiary);
    }
}

/// @notice Creates a contract, has it write its storage, and destroys it, in one transaction (EIP-6780). The address is
/// always the same, so that each transaction creates at it again.
contract Runner {
    event Ran(address indexed ephemeral, uint256 result);

    bytes32 private constant SALT = bytes32(uint256(1));

    function run(uint256 rounds, address payable beneficiary) external payable {
        Ephemeral ephemeral = new Ephemeral{salt: SALT, value: msg.value}();
        emit Ran(address(ephemeral), ephemeral.work(rounds));
        ephemeral.destroy(beneficiary);
    }

    /// @dev Creates contracts that stay, and asks the last to destroy itself: only its ether goes.
    function keep(uint256 count) external payable {
        for (uint256 i; i < count; i++) new Ephemeral();
        Ephemeral last = new Ephemeral{value: msg.value}();
        emit Ran(address(last), last.work(1));
    }

    function destroyLater(Ephemeral ephemeral, address payable beneficiary) external {
        ephemeral.destroy(beneficiary);
    }
}
