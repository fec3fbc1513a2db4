import type { ForkParameters } from '../../chain/eth/forks/fork.js'
import type { Fork, Rules } from '../../chain/eth/forks/rules.js'
import { instructionsOf } from './opcodes/instructions.js'
import { LIMBS } from './words/words.js'

/** Rules of a fork as the interpreter needs them. */
export interface EvmRules extends ForkParameters {
  readonly fork: Fork
  /** Constant gas by opcode; infinite for undefined opcodes. */
  readonly gas: Float64Array
  /** Constant gas as tracers show it: geth counts the warm access to an account as constant, and all of some prices as
   *  dynamic. */
  readonly shownGas: Float64Array
  /** Limbs that each instruction needs on the stack. */
  readonly need: Int32Array
  /** Limbs that may be on the stack before each instruction. */
  readonly room: Int32Array
}

/** State gas of an account and of a byte of code (EIP-8037), from Amsterdam on. */
export const NEW_ACCOUNT_STATE_GAS = 183_600
export const CODE_BYTE_STATE_GAS = 1530

/** Maximum stack height in words (Yellow Paper, 9.1). */
export const MAX_STACK = 1024

/** The rules of a block for the interpreter. */
export function createEvmRules(rules: Rules): EvmRules {
  return { ...rules, ...stackTables(rules) }
}

// EXP, LOG0 to LOG4, and SELFDESTRUCT before Berlin: all of their price is dynamic in geth.
const ALL_DYNAMIC = [0x0a, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4]
// BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH, calls: from Berlin on the constant part is a warm access.
const ACCOUNT_ACCESSES = [0x31, 0x3b, 0x3c, 0x3f, 0xf1, 0xf2, 0xf4, 0xfa]

function shownGas(gas: Float64Array, { eip2929 }: Rules): Float64Array {
  const out = gas.map((each) => (each === Infinity ? 0 : each))
  for (const op of ALL_DYNAMIC) out[op] = 0
  if (!eip2929) out[0xff] = 0
  else for (const op of ACCOUNT_ACCESSES) out[op] = 100
  return out
}

function stackTables(rules: Rules): Pick<EvmRules, 'gas' | 'shownGas' | 'need' | 'room'> {
  const gas = new Float64Array(256).fill(Infinity)
  const need = new Int32Array(256)
  const room = new Int32Array(256).fill(MAX_STACK * LIMBS)
  for (const [code, instruction] of instructionsOf(rules).entries()) {
    if (instruction === undefined) continue
    const { pops, pushes } = instruction
    gas[code] = instruction.gas
    need[code] = pops * LIMBS
    room[code] = (MAX_STACK - Math.max(pushes - pops, 0)) * LIMBS
  }
  return { gas, shownGas: shownGas(gas, rules), need, room }
}
