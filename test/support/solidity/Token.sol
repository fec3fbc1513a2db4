// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice An ERC-20 token with an owner who mints, holders who burn, and a pause.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    error InsufficientBalance(address account, uint256 balance, uint256 needed);
    error InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
    error InvalidReceiver(address receiver);
    error NotOwner(address account);
    error Paused();

    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    address public owner;
    bool public paused;
    uint256 public totalSupply;
    uint256 public burned = 0; // an SSTORE of zero in the constructor
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    constructor(string memory name_, string memory symbol_, address owner_, uint256 supply) {
        name = name_;
        symbol = symbol_;
        owner = owner_;
        totalSupply = 0; // and another
        paused = false;
        emit OwnershipTransferred(address(0), owner_);
        if (supply > 0) _update(address(0), owner_, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (to == address(0)) revert InvalidReceiver(to);
        _update(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (to == address(0)) revert InvalidReceiver(to);
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) {
            if (allowed < value) revert InsufficientAllowance(msg.sender, allowed, value);
            unchecked {
                allowance[from][msg.sender] = allowed - value;
            }
        }
        _update(from, to, value);
        return true;
    }

    function mint(address to, uint256 value) external onlyOwner {
        _update(address(0), to, value);
    }

    function burn(uint256 value) external {
        _update(msg.sender, address(0), value);
        burned += value;
    }

    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
    }

    function _update(address from, address to, uint256 value) private {
        if (paused) revert Paused();
        if (from == address(0)) {
            totalSupply += value;
        } else {
            uint256 balance = balanceOf[from];
            if (balance < value) revert InsufficientBalance(from, balance, value);
            unchecked {
                balanceOf[from] = balance - value;
            }
        }
        unchecked {
            if (to == address(0)) totalSupply -= value;
            else balanceOf[to] += value;
        }
        emit Transfer(from, to, value);
    }
}
