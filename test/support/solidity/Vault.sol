// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Token} from "./Token.sol";
import {Collectible, IERC721Receiver} from "./Collectible.sol";

/// @notice What the proxy runs first: keeps ether, tokens and collectibles of depositors.
contract Vault is IERC721Receiver {
    event Initialized(uint64 version);
    event Upgraded(address indexed implementation);
    event Deposited(address indexed account, address indexed token, uint256 value);
    event Withdrawn(address indexed account, address indexed token, uint256 value);

    error AlreadyInitialized(uint64 version);
    error NotAdmin(address account);
    error Reentered();
    error Insolvent(uint256 deposited, uint256 needed);
    error TransferFailed();

    bytes32 private constant IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    bool private transient entered;
    uint64 public initialized;
    address public admin;
    mapping(address => mapping(address => uint256)) public deposits;

    modifier initializer(uint64 next) {
        if (initialized >= next) revert AlreadyInitialized(initialized);
        initialized = next;
        _;
        emit Initialized(next);
    }

    modifier onlyAdmin() {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        _;
    }

    modifier nonReentrant() {
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }

    /// @dev The implementation itself cannot be initialized.
    constructor() {
        initialized = type(uint64).max;
    }

    receive() external payable virtual {
        _credit(msg.sender, address(0), msg.value);
    }

    function initialize(address admin_) external initializer(1) {
        admin = admin_;
    }

    function version() external pure virtual returns (string memory) {
        return "1";
    }

    function upgradeToAndCall(address implementation, bytes calldata data) external payable onlyAdmin {
        assembly ("memory-safe") {
            sstore(IMPLEMENTATION_SLOT, implementation)
        }
        emit Upgraded(implementation);
        if (data.length == 0) return;
        (bool success,) = implementation.delegatecall(data);
        if (!success) revert TransferFailed();
    }

    function deposit(Token token, uint256 value) external nonReentrant {
        if (!token.transferFrom(msg.sender, address(this), value)) revert TransferFailed();
        _credit(msg.sender, address(token), value);
    }

    function withdraw(Token token, uint256 value) external nonReentrant {
        uint256 deposited = deposits[msg.sender][address(token)];
        if (deposited < value) revert Insolvent(deposited, value);
        deposits[msg.sender][address(token)] = deposited - value;
        if (address(token) == address(0)) {
            (bool success,) = msg.sender.call{value: value}("");
            if (!success) revert TransferFailed();
        } else if (!token.transfer(msg.sender, value)) {
            revert TransferFailed();
        }
        emit Withdrawn(msg.sender, address(token), value);
    }

    function release(Collectible collectible, uint256 tokenId, address to) external onlyAdmin nonReentrant {
        collectible.safeTransferFrom(address(this), to, tokenId);
    }

    function onERC721Received(address, address from, uint256 tokenId, bytes calldata) external returns (bytes4) {
        emit Deposited(from, msg.sender, tokenId);
        return IERC721Receiver.onERC721Received.selector;
    }

    function _credit(address account, address token, uint256 value) internal virtual {
        deposits[account][token] += value;
        emit Deposited(account, token, value);
    }
}
