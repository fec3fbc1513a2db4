import { ALL_FORKS, type ForkRules } from '../../../chain/eth/forks/all.js'

/** One instruction: pops, pushes, and constant gas (Yellow Paper, appendix H). Dynamic gas is charged where it is
 *  executed. */
export interface Instruction {
  /** Name in the Yellow Paper or the introducing EIP, in capitals. */
  mnemonic: string
  pops: number
  pushes: number
  gas: number
}

/** Returns the 256 instructions of a fork by opcode; undefined for unassigned opcodes. */
export function instructionsOf({ instructions }: Pick<ForkRules, 'instructions'>): (Instruction | undefined)[] {
  const out: (Instruction | undefined)[] = new Array(256).fill(undefined)
  for (const [code, mnemonic, pops, pushes, gas] of instructions) out[code] = { mnemonic, pops, pushes, gas }
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

/** Instructions of all forks by opcode, with the prices of the last one. */
export const OF_ALL_FORKS = instructionsOf(ALL_FORKS)

/** Returns geth's name of an opcode of any fork. */
export function opcodeName(op: number): string {
  return OF_ALL_FORKS[op]?.mnemonic ?? OTHER_NAMES.get(op) ?? `opcode 0x${op.toString(16)} not defined`
}
