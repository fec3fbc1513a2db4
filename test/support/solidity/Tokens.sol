// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice An ERC-20 token that answers `name`, `symbol` and `decimals` with any bytes: it reverts where there are none,
/// and answers with a name of a million characters where there is a single byte.
contract OddToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    bytes private nameOutput;
    bytes private symbolOutput;
    bytes private decimalsOutput;

    constructor(bytes memory name_, bytes memory symbol_, bytes memory decimals_, address owner, uint256 supply) {
        nameOutput = name_;
        symbolOutput = symbol_;
        decimalsOutput = decimals_;
        totalSupply = supply;
        balanceOf[owner] = supply;
        emit Transfer(address(0), owner, supply);
    }

    function name() external view {
        _answer(nameOutput);
    }

    function symbol() external view {
        _answer(symbolOutput);
    }

    function decimals() external view {
        _answer(decimalsOutput);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function _answer(bytes memory output) private pure {
        if (output.length == 0) revert();
        if (output.length == 1) {
            assembly {
                let length := 1000000
                let word := mul(0x0101010101010101010101010101010101010101010101010101010101010101, byte(0, mload(add(output, 32))))
                let start := mload(0x40)
                mstore(start, 32)
                mstore(add(start, 32), length)
                mstore(add(start, 64), word)
                for { let filled := 32 } lt(filled, length) { filled := mul(filled, 2) } {
                    mcopy(add(add(start, 64), filled), add(start, 64), filled)
                }
                return(start, add(length, 64))
            }
        }
        assembly {
            return(add(output, 32), mload(output))
        }
    }
}

/// @notice An ERC-20 token that keeps a hundredth of each transfer, which its logs do not show. It may be behind a
/// proxy.
contract FeeToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    string public name;
    string public symbol;
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    function initialize(string calldata name_, string calldata symbol_, address owner, uint256 supply) external {
        require(totalSupply == 0);
        name = name_;
        symbol = symbol_;
        totalSupply = supply;
        balanceOf[owner] = supply;
        emit Transfer(address(0), owner, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value - value / 100;
        totalSupply -= value / 100;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// @notice An ERC-1155 token whose owner mints.
contract MultiToken {
    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );
    event TransferBatch(
        address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values
    );

    mapping(address => mapping(uint256 => uint256)) private balances;

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == 0x01ffc9a7 || interfaceId == 0xd9b67a26;
    }

    function balanceOf(address account, uint256 id) external view returns (uint256) {
        return balances[account][id];
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata values) external {
        _move(address(0), to, ids, values);
        emit TransferBatch(msg.sender, address(0), to, ids, values);
    }

    function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes calldata) external {
        require(from == msg.sender);
        balances[from][id] -= value;
        balances[to][id] += value;
        emit TransferSingle(msg.sender, from, to, id, value);
    }

    function safeBatchTransferFrom(
        address from,
        address to,
        uint256[] calldata ids,
        uint256[] calldata values,
        bytes calldata
    ) external {
        require(from == msg.sender);
        _move(from, to, ids, values);
        emit TransferBatch(msg.sender, from, to, ids, values);
    }

    /// @notice Logs a batch whose data is any bytes.
    function logBatch(address to, bytes memory data) external {
        bytes32 topic = keccak256("TransferBatch(address,address,address,uint256[],uint256[])");
        assembly {
            log4(add(data, 32), mload(data), topic, caller(), caller(), to)
        }
    }

    function _move(address from, address to, uint256[] calldata ids, uint256[] calldata values) private {
        for (uint256 i = 0; i < ids.length; i++) {
            if (from != address(0)) balances[from][ids[i]] -= values[i];
            balances[to][ids[i]] += values[i];
        }
    }
}
