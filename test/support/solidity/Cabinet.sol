// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Variables of every kind that a storage layout has, with values that follow from a seed.
contract Cabinet {
    enum Colour { Red, Green, Blue }
    type Price is uint128;
    struct Pair { uint64 left; int32 right; bool both; address owner; }
    struct Box { bytes32 id; Pair pair; uint16[3] sizes; string label; mapping(uint256 => bool) opened; }

    uint256 public whole;
    int128 public negative;
    uint8 public small;
    bool public flag;
    address public keeper;
    Colour public colour;
    bytes4 public selector;
    bytes32 public word;
    Price public price;
    string public title;
    string public story;
    bytes public blob;
    Pair public pair;
    Box private box;
    uint16[5] public fixedSmall;
    int256[2] public fixedWide;
    uint8[3][2] public grid;
    uint40[] public list;
    Pair[] public pairs;
    string[] public names;
    mapping(address => uint256) public balances;
    mapping(address => mapping(bytes4 => int64)) public nested;
    mapping(string => Pair) public byName;
    mapping(Colour => uint256[]) public byColour;
    mapping(bool => address) public byFlag;
    mapping(int16 => bytes8) public bySigned;
    Cabinet public peer;

    constructor(uint256 seed) { fill(seed); }

    function fill(uint256 seed) public {
        whole = draw(seed, 0);
        negative = int128(uint128(draw(seed, 1)));
        small = uint8(draw(seed, 2));
        flag = draw(seed, 3) % 2 == 1;
        keeper = address(uint160(draw(seed, 4)));
        colour = Colour(draw(seed, 5) % 3);
        selector = bytes4(uint32(draw(seed, 6)));
        word = bytes32(draw(seed, 7));
        price = Price.wrap(uint128(draw(seed, 8)));
        title = text(draw(seed, 9) % 32);
        story = text(32 + draw(seed, 10) % 100);
        blob = bytes(text(draw(seed, 11) % 80));
        pair = pairAt(seed, 12);
        box.id = bytes32(draw(seed, 13));
        box.pair = pairAt(seed, 14);
        box.sizes = [uint16(draw(seed, 15)), uint16(draw(seed, 16)), uint16(draw(seed, 17))];
        box.label = text(draw(seed, 18) % 60);
        box.opened[7] = draw(seed, 19) % 2 == 1;
        delete list;
        delete pairs;
        delete names;
        for (uint256 i = 0; i < 5; i++) {
            fixedSmall[i] = uint16(draw(seed, 20 + i));
            list.push(uint40(draw(seed, 30 + i)));
            pairs.push(pairAt(seed, 40 + i));
            names.push(text(draw(seed, 50 + i) % 70));
            byColour[Colour(i % 3)].push(draw(seed, 60 + i));
        }
        for (uint256 i = 0; i < 2; i++) {
            fixedWide[i] = int256(draw(seed, 70 + i));
            for (uint256 j = 0; j < 3; j++) grid[i][j] = uint8(draw(seed, 80 + 3 * i + j));
        }
        balances[keeper] = draw(seed, 90);
        nested[keeper][selector] = int64(uint64(draw(seed, 91)));
        byName[title] = pairAt(seed, 92);
        byFlag[true] = address(uint160(draw(seed, 93)));
        bySigned[-3] = bytes8(uint64(draw(seed, 94)));
        peer = Cabinet(address(uint160(draw(seed, 95))));
    }

    function boxParts() external view returns (bytes32, Pair memory, uint16[3] memory, string memory, bool) {
        return (box.id, box.pair, box.sizes, box.label, box.opened[7]);
    }

    function draw(uint256 seed, uint256 i) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, i)));
    }

    function pairAt(uint256 seed, uint256 i) private pure returns (Pair memory) {
        uint256 value = draw(seed, i);
        return Pair(uint64(value), int32(uint32(value >> 64)), value >> 255 == 1, address(uint160(value >> 90)));
    }

    function text(uint256 length) private pure returns (string memory) {
        bytes memory out = new bytes(length);
        for (uint256 i = 0; i < length; i++) out[i] = bytes1(uint8(97 + ((i * 7 + length) % 26)));
        return string(out);
    }
}
