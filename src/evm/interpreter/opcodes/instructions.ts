import type { Fork } from '../../../chain/eth/forks.js'

/** One instruction: pops, pushes, and constant gas (Yellow Paper, appendix H). Dynamic gas is charged where it is
 *  executed. */
export interface Instruction {
  /** Name in the Yellow Paper or the introducing EIP, in capitals. */
  mnemonic: string
  pops: number
  pushes: number
  gas: number
}

interface Introduction {
  fork: Fork
  /** Code, mnemonic, pops, pushes, gas. */
  instructions: readonly (readonly [number, string, number, number, number])[]
}

// Later rows replace earlier ones. From Berlin on, access costs depend on warmth (EIP-2929), so they are not in the
// constant gas.
const INTRODUCTIONS: readonly Introduction[] = [
  {
    fork: 'frontier',
    instructions: [
      [0x00, 'STOP', 0, 0, 0],
      [0x01, 'ADD', 2, 1, 3],
      [0x02, 'MUL', 2, 1, 5],
      [0x03, 'SUB', 2, 1, 3],
      [0x04, 'DIV', 2, 1, 5],
      [0x05, 'SDIV', 2, 1, 5],
      [0x06, 'MOD', 2, 1, 5],
      [0x07, 'SMOD', 2, 1, 5],
      [0x08, 'ADDMOD', 3, 1, 8],
      [0x09, 'MULMOD', 3, 1, 8],
      [0x0a, 'EXP', 2, 1, 10],
      [0x0b, 'SIGNEXTEND', 2, 1, 5],
      [0x10, 'LT', 2, 1, 3],
      [0x11, 'GT', 2, 1, 3],
      [0x12, 'SLT', 2, 1, 3],
      [0x13, 'SGT', 2, 1, 3],
      [0x14, 'EQ', 2, 1, 3],
      [0x15, 'ISZERO', 1, 1, 3],
      [0x16, 'AND', 2, 1, 3],
      [0x17, 'OR', 2, 1, 3],
      [0x18, 'XOR', 2, 1, 3],
      [0x19, 'NOT', 1, 1, 3],
      [0x1a, 'BYTE', 2, 1, 3],
      [0x20, 'KECCAK256', 2, 1, 30],
      [0x30, 'ADDRESS', 0, 1, 2],
      [0x31, 'BALANCE', 1, 1, 20],
      [0x32, 'ORIGIN', 0, 1, 2],
      [0x33, 'CALLER', 0, 1, 2],
      [0x34, 'CALLVALUE', 0, 1, 2],
      [0x35, 'CALLDATALOAD', 1, 1, 3],
      [0x36, 'CALLDATASIZE', 0, 1, 2],
      [0x37, 'CALLDATACOPY', 3, 0, 3],
      [0x38, 'CODESIZE', 0, 1, 2],
      [0x39, 'CODECOPY', 3, 0, 3],
      [0x3a, 'GASPRICE', 0, 1, 2],
      [0x3b, 'EXTCODESIZE', 1, 1, 20],
      [0x3c, 'EXTCODECOPY', 4, 0, 20],
      [0x40, 'BLOCKHASH', 1, 1, 20],
      [0x41, 'COINBASE', 0, 1, 2],
      [0x42, 'TIMESTAMP', 0, 1, 2],
      [0x43, 'NUMBER', 0, 1, 2],
      [0x44, 'DIFFICULTY', 0, 1, 2], // PREVRANDAO (EIP-4399)
      [0x45, 'GASLIMIT', 0, 1, 2],
      [0x50, 'POP', 1, 0, 2],
      [0x51, 'MLOAD', 1, 1, 3],
      [0x52, 'MSTORE', 2, 0, 3],
      [0x53, 'MSTORE8', 2, 0, 3],
      [0x54, 'SLOAD', 1, 1, 50],
      [0x55, 'SSTORE', 2, 0, 0],
      [0x56, 'JUMP', 1, 0, 8],
      [0x57, 'JUMPI', 2, 0, 10],
      [0x58, 'PC', 0, 1, 2],
      [0x59, 'MSIZE', 0, 1, 2],
      [0x5a, 'GAS', 0, 1, 2],
      [0x5b, 'JUMPDEST', 0, 0, 1],
      [0xa0, 'LOG0', 2, 0, 375],
      [0xa1, 'LOG1', 3, 0, 750],
      [0xa2, 'LOG2', 4, 0, 1125],
      [0xa3, 'LOG3', 5, 0, 1500],
      [0xa4, 'LOG4', 6, 0, 1875],
      [0xf0, 'CREATE', 3, 1, 32_000],
      [0xf1, 'CALL', 7, 1, 40],
      [0xf2, 'CALLCODE', 7, 1, 40],
      [0xf3, 'RETURN', 2, 0, 0],
      [0xff, 'SELFDESTRUCT', 1, 0, 0],
    ],
  },
  { fork: 'homestead', instructions: [[0xf4, 'DELEGATECALL', 6, 1, 40]] }, // EIP-7
  {
    fork: 'tangerineWhistle', // EIP-150
    instructions: [
      [0x31, 'BALANCE', 1, 1, 400],
      [0x3b, 'EXTCODESIZE', 1, 1, 700],
      [0x3c, 'EXTCODECOPY', 4, 0, 700],
      [0x54, 'SLOAD', 1, 1, 200],
      [0xf1, 'CALL', 7, 1, 700],
      [0xf2, 'CALLCODE', 7, 1, 700],
      [0xf4, 'DELEGATECALL', 6, 1, 700],
      [0xff, 'SELFDESTRUCT', 1, 0, 5000],
    ],
  },
  {
    fork: 'byzantium',
    instructions: [
      [0x3d, 'RETURNDATASIZE', 0, 1, 2], // EIP-211
      [0x3e, 'RETURNDATACOPY', 3, 0, 3], // EIP-211
      [0xfa, 'STATICCALL', 6, 1, 700], // EIP-214
      [0xfd, 'REVERT', 2, 0, 0], // EIP-140
    ],
  },
  {
    fork: 'constantinople',
    instructions: [
      [0x1b, 'SHL', 2, 1, 3], // EIP-145
      [0x1c, 'SHR', 2, 1, 3],
      [0x1d, 'SAR', 2, 1, 3],
      [0x3f, 'EXTCODEHASH', 1, 1, 400], // EIP-1052
      [0xf5, 'CREATE2', 4, 1, 32_000], // EIP-1014
    ],
  },
  {
    fork: 'istanbul',
    instructions: [
      [0x31, 'BALANCE', 1, 1, 700], // EIP-1884
      [0x3f, 'EXTCODEHASH', 1, 1, 700],
      [0x54, 'SLOAD', 1, 1, 800],
      [0x46, 'CHAINID', 0, 1, 2], // EIP-1344
      [0x47, 'SELFBALANCE', 0, 1, 5], // EIP-1884
    ],
  },
  {
    fork: 'berlin', // EIP-2929
    instructions: [
      [0x31, 'BALANCE', 1, 1, 0],
      [0x3b, 'EXTCODESIZE', 1, 1, 0],
      [0x3c, 'EXTCODECOPY', 4, 0, 0],
      [0x3f, 'EXTCODEHASH', 1, 1, 0],
      [0x54, 'SLOAD', 1, 1, 0],
      [0xf1, 'CALL', 7, 1, 0],
      [0xf2, 'CALLCODE', 7, 1, 0],
      [0xf4, 'DELEGATECALL', 6, 1, 0],
      [0xfa, 'STATICCALL', 6, 1, 0],
    ],
  },
  { fork: 'london', instructions: [[0x48, 'BASEFEE', 0, 1, 2]] }, // EIP-3198
  { fork: 'shanghai', instructions: [[0x5f, 'PUSH0', 0, 1, 2]] }, // EIP-3855
  {
    fork: 'cancun',
    instructions: [
      [0x49, 'BLOBHASH', 1, 1, 3], // EIP-4844
      [0x4a, 'BLOBBASEFEE', 0, 1, 2], // EIP-7516
      [0x5c, 'TLOAD', 1, 1, 100], // EIP-1153
      [0x5d, 'TSTORE', 2, 0, 100],
      [0x5e, 'MCOPY', 3, 0, 3], // EIP-5656
    ],
  },
  { fork: 'osaka', instructions: [[0x1e, 'CLZ', 1, 1, 5]] }, // EIP-7939
  {
    fork: 'amsterdam',
    instructions: [
      [0x3b, 'EXTCODESIZE', 1, 1, 100], // EIP-8038
      [0x3c, 'EXTCODECOPY', 4, 0, 100],
      [0x4b, 'SLOTNUM', 0, 1, 2], // EIP-7843
      [0xe6, 'DUPN', 0, 1, 3], // EIP-8024; what they need of the stack depends on their immediate byte
      [0xe7, 'SWAPN', 0, 0, 3],
      [0xe8, 'EXCHANGE', 0, 0, 3],
      [0xf0, 'CREATE', 3, 1, 12_000], // EIP-8038
      [0xf5, 'CREATE2', 4, 1, 12_000],
    ],
  },
]

/** Returns the 256 instructions of a fork by opcode; undefined for unassigned opcodes. */
export function instructionsOf(has: (fork: Fork) => boolean): (Instruction | undefined)[] {
  const out: (Instruction | undefined)[] = new Array(256).fill(undefined)
  for (let n = 1; n <= 32; n++) out[0x5f + n] = { mnemonic: `PUSH${n}`, pops: 0, pushes: 1, gas: 3 }
  for (let n = 1; n <= 16; n++) {
    out[0x7f + n] = { mnemonic: `DUP${n}`, pops: n, pushes: n + 1, gas: 3 }
    out[0x8f + n] = { mnemonic: `SWAP${n}`, pops: n + 1, pushes: n + 1, gas: 3 }
  }
  for (const { fork, instructions } of INTRODUCTIONS) {
    if (!has(fork)) continue
    for (const [code, mnemonic, pops, pushes, gas] of instructions) out[code] = { mnemonic, pops, pushes, gas }
  }
  return out
}

/** Names of opcodes that no fork assigns: those of the object format (EIP-7692), and INVALID (EIP-141). */
const OTHER_NAMES: ReadonlyMap<number, string> = new Map([
  [0xd0, 'DATALOAD'],
  [0xd1, 'DATALOADN'],
  [0xd2, 'DATASIZE'],
  [0xd3, 'DATACOPY'],
  [0xe0, 'RJUMP'],
  [0xe1, 'RJUMPI'],
  [0xe2, 'RJUMPV'],
  [0xe3, 'CALLF'],
  [0xe4, 'RETF'],
  [0xe5, 'JUMPF'],
  [0xec, 'EOFCREATE'],
  [0xee, 'RETURNCONTRACT'],
  [0xf7, 'RETURNDATALOAD'],
  [0xf8, 'EXTCALL'],
  [0xf9, 'EXTDELEGATECALL'],
  [0xfb, 'EXTSTATICCALL'],
  [0xfe, 'INVALID'],
])

const OF_ALL_FORKS = instructionsOf(() => true)

/** Returns geth's name of an opcode of any fork. */
export function opcodeName(op: number): string {
  return OF_ALL_FORKS[op]?.mnemonic ?? OTHER_NAMES.get(op) ?? `opcode 0x${op.toString(16)} not defined`
}
