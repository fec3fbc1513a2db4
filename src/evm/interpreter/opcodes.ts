import type { Fork } from '../../chain/eth/forks.js'

/** One instruction: what it takes from the stack and leaves there, and the part of its gas that is always the same
 *  (Yellow Paper, appendix H). The part that depends on its operands is charged where it is executed. */
export interface Instruction {
  pops: number
  pushes: number
  gas: number
}

interface Introduction {
  fork: Fork
  /** Code, pops, pushes, gas. */
  instructions: readonly (readonly [number, number, number, number])[]
}

// Later rows replace earlier ones. Since Berlin, the whole price of touching accounts and slots depends on whether they
// are warm (EIP-2929), so that nothing of it stands here.
const INTRODUCTIONS: readonly Introduction[] = [
  {
    fork: 'frontier',
    instructions: [
      [0x00, 0, 0, 0], // STOP
      [0x01, 2, 1, 3], // ADD
      [0x02, 2, 1, 5], // MUL
      [0x03, 2, 1, 3], // SUB
      [0x04, 2, 1, 5], // DIV
      [0x05, 2, 1, 5], // SDIV
      [0x06, 2, 1, 5], // MOD
      [0x07, 2, 1, 5], // SMOD
      [0x08, 3, 1, 8], // ADDMOD
      [0x09, 3, 1, 8], // MULMOD
      [0x0a, 2, 1, 10], // EXP
      [0x0b, 2, 1, 5], // SIGNEXTEND
      [0x10, 2, 1, 3], // LT
      [0x11, 2, 1, 3], // GT
      [0x12, 2, 1, 3], // SLT
      [0x13, 2, 1, 3], // SGT
      [0x14, 2, 1, 3], // EQ
      [0x15, 1, 1, 3], // ISZERO
      [0x16, 2, 1, 3], // AND
      [0x17, 2, 1, 3], // OR
      [0x18, 2, 1, 3], // XOR
      [0x19, 1, 1, 3], // NOT
      [0x1a, 2, 1, 3], // BYTE
      [0x20, 2, 1, 30], // KECCAK256
      [0x30, 0, 1, 2], // ADDRESS
      [0x31, 1, 1, 20], // BALANCE
      [0x32, 0, 1, 2], // ORIGIN
      [0x33, 0, 1, 2], // CALLER
      [0x34, 0, 1, 2], // CALLVALUE
      [0x35, 1, 1, 3], // CALLDATALOAD
      [0x36, 0, 1, 2], // CALLDATASIZE
      [0x37, 3, 0, 3], // CALLDATACOPY
      [0x38, 0, 1, 2], // CODESIZE
      [0x39, 3, 0, 3], // CODECOPY
      [0x3a, 0, 1, 2], // GASPRICE
      [0x3b, 1, 1, 20], // EXTCODESIZE
      [0x3c, 4, 0, 20], // EXTCODECOPY
      [0x40, 1, 1, 20], // BLOCKHASH
      [0x41, 0, 1, 2], // COINBASE
      [0x42, 0, 1, 2], // TIMESTAMP
      [0x43, 0, 1, 2], // NUMBER
      [0x44, 0, 1, 2], // DIFFICULTY, PREVRANDAO (EIP-4399)
      [0x45, 0, 1, 2], // GASLIMIT
      [0x50, 1, 0, 2], // POP
      [0x51, 1, 1, 3], // MLOAD
      [0x52, 2, 0, 3], // MSTORE
      [0x53, 2, 0, 3], // MSTORE8
      [0x54, 1, 1, 50], // SLOAD
      [0x55, 2, 0, 0], // SSTORE
      [0x56, 1, 0, 8], // JUMP
      [0x57, 2, 0, 10], // JUMPI
      [0x58, 0, 1, 2], // PC
      [0x59, 0, 1, 2], // MSIZE
      [0x5a, 0, 1, 2], // GAS
      [0x5b, 0, 0, 1], // JUMPDEST
      [0xa0, 2, 0, 375], // LOG0
      [0xa1, 3, 0, 750], // LOG1
      [0xa2, 4, 0, 1125], // LOG2
      [0xa3, 5, 0, 1500], // LOG3
      [0xa4, 6, 0, 1875], // LOG4
      [0xf0, 3, 1, 32_000], // CREATE
      [0xf1, 7, 1, 40], // CALL
      [0xf2, 7, 1, 40], // CALLCODE
      [0xf3, 2, 0, 0], // RETURN
      [0xff, 1, 0, 0], // SELFDESTRUCT
    ],
  },
  { fork: 'homestead', instructions: [[0xf4, 6, 1, 40]] }, // DELEGATECALL, EIP-7
  {
    fork: 'tangerineWhistle', // EIP-150
    instructions: [
      [0x31, 1, 1, 400],
      [0x3b, 1, 1, 700],
      [0x3c, 4, 0, 700],
      [0x54, 1, 1, 200],
      [0xf1, 7, 1, 700],
      [0xf2, 7, 1, 700],
      [0xf4, 6, 1, 700],
      [0xff, 1, 0, 5000],
    ],
  },
  {
    fork: 'byzantium',
    instructions: [
      [0x3d, 0, 1, 2], // RETURNDATASIZE, EIP-211
      [0x3e, 3, 0, 3], // RETURNDATACOPY, EIP-211
      [0xfa, 6, 1, 700], // STATICCALL, EIP-214
      [0xfd, 2, 0, 0], // REVERT, EIP-140
    ],
  },
  {
    fork: 'constantinople',
    instructions: [
      [0x1b, 2, 1, 3], // SHL, EIP-145
      [0x1c, 2, 1, 3], // SHR
      [0x1d, 2, 1, 3], // SAR
      [0x3f, 1, 1, 400], // EXTCODEHASH, EIP-1052
      [0xf5, 4, 1, 32_000], // CREATE2, EIP-1014
    ],
  },
  {
    fork: 'istanbul',
    instructions: [
      [0x31, 1, 1, 700], // EIP-1884
      [0x3f, 1, 1, 700],
      [0x54, 1, 1, 800],
      [0x46, 0, 1, 2], // CHAINID, EIP-1344
      [0x47, 0, 1, 5], // SELFBALANCE, EIP-1884
    ],
  },
  {
    fork: 'berlin', // EIP-2929
    instructions: [
      [0x31, 1, 1, 0],
      [0x3b, 1, 1, 0],
      [0x3c, 4, 0, 0],
      [0x3f, 1, 1, 0],
      [0x54, 1, 1, 0],
      [0xf1, 7, 1, 0],
      [0xf2, 7, 1, 0],
      [0xf4, 6, 1, 0],
      [0xfa, 6, 1, 0],
    ],
  },
  { fork: 'london', instructions: [[0x48, 0, 1, 2]] }, // BASEFEE, EIP-3198
  { fork: 'shanghai', instructions: [[0x5f, 0, 1, 2]] }, // PUSH0, EIP-3855
  {
    fork: 'cancun',
    instructions: [
      [0x49, 1, 1, 3], // BLOBHASH, EIP-4844
      [0x4a, 0, 1, 2], // BLOBBASEFEE, EIP-7516
      [0x5c, 1, 1, 100], // TLOAD, EIP-1153
      [0x5d, 2, 0, 100], // TSTORE
      [0x5e, 3, 0, 3], // MCOPY, EIP-5656
    ],
  },
  { fork: 'osaka', instructions: [[0x1e, 1, 1, 5]] }, // CLZ, EIP-7939
]

/** The 256 instructions of a fork by their codes; undefined where there is none. */
export function instructionsOf(has: (fork: Fork) => boolean): (Instruction | undefined)[] {
  const out: (Instruction | undefined)[] = new Array(256).fill(undefined)
  for (let n = 1; n <= 32; n++) out[0x5f + n] = { pops: 0, pushes: 1, gas: 3 } // PUSH1 to PUSH32
  for (let n = 1; n <= 16; n++) {
    out[0x7f + n] = { pops: n, pushes: n + 1, gas: 3 } // DUP1 to DUP16
    out[0x8f + n] = { pops: n + 1, pushes: n + 1, gas: 3 } // SWAP1 to SWAP16
  }
  for (const { fork, instructions } of INTRODUCTIONS) {
    if (!has(fork)) continue
    for (const [code, pops, pushes, gas] of instructions) out[code] = { pops, pushes, gas }
  }
  return out
}
