import type { Fork, Rules } from '../../chain/eth/forks.js'
import { instructionsOf } from './opcodes.js'
import { LIMBS } from './words/words.js'

/** SSTORE prices (EIP-1283, 2200, 2929, 3529). `net`: net gas metering. */
export interface StoragePrices {
  net: boolean
  /** EIP-2200: out of gas if at most this much gas is left. -1: not checked. */
  sentry: number
  noChange: number
  set: number
  reset: number
  clearRefund: number
}

/** Rules of a fork as the interpreter needs them. */
export interface EvmRules {
  readonly fork: Fork
  /** Constant gas by opcode; infinite for undefined opcodes. */
  readonly gas: Float64Array
  /** Limbs that each instruction needs on the stack. */
  readonly need: Int32Array
  /** Limbs that may be on the stack before each instruction. */
  readonly room: Int32Array
  readonly storage: StoragePrices
  readonly expByteGas: number
  readonly homestead: boolean
  /** EIP-150: a call gets at most all but one 64th of the gas, and that much if it requests more. */
  readonly eip150: boolean
  /** EIP-161. */
  readonly eip161: boolean
  /** EIP-170: maximum code size. Infinite before. */
  readonly maxCodeSize: number
  /** EIP-3860: maximum init code size, and gas per word of it. */
  readonly maxInitCodeSize: number
  readonly initCodeWordGas: number
  /** EIP-2929. */
  readonly eip2929: boolean
  readonly london: boolean
  /** EIP-3651. */
  readonly warmCoinbase: boolean
  /** EIP-6780: SELFDESTRUCT deletes only accounts created in the same transaction. */
  readonly keepsOldDestructed: boolean
  /** EIP-7702: set-code delegations. */
  readonly delegations: boolean
  readonly destructRefund: number
  /** EIP-150: gas for a SELFDESTRUCT that creates an account. */
  readonly destructNewAccountGas: number
}

const MAX_CODE_SIZE = 24_576 // EIP-170
/** Maximum stack height in words (Yellow Paper, 9.1). */
export const MAX_STACK = 1024

/** The rules of a block for the interpreter. */
export function createEvmRules(rules: Rules): EvmRules {
  const has = (fork: Fork) => rules.has(fork)
  return {
    fork: rules.fork,
    ...stackTables(has),
    storage: storagePrices(has),
    expByteGas: has('spuriousDragon') ? 50 : 10, // EIP-160
    homestead: has('homestead'),
    eip150: has('tangerineWhistle'),
    eip161: has('spuriousDragon'),
    maxCodeSize: has('spuriousDragon') ? MAX_CODE_SIZE : Infinity,
    maxInitCodeSize: maxInitCodeSize(rules),
    initCodeWordGas: has('shanghai') ? 2 : 0,
    eip2929: has('berlin'),
    london: has('london'),
    warmCoinbase: has('shanghai'),
    keepsOldDestructed: has('cancun'),
    delegations: has('prague'),
    destructRefund: has('london') ? 0 : 24_000, // EIP-3529
    destructNewAccountGas: has('tangerineWhistle') ? 25_000 : 0,
  }
}

/** EIP-3860: maximum init code size in bytes. Infinite before Shanghai. */
export function maxInitCodeSize(rules: Rules): number {
  return rules.has('shanghai') ? 2 * MAX_CODE_SIZE : Infinity
}

function stackTables(has: (fork: Fork) => boolean): Pick<EvmRules, 'gas' | 'need' | 'room'> {
  const gas = new Float64Array(256).fill(Infinity)
  const need = new Int32Array(256)
  const room = new Int32Array(256).fill(MAX_STACK * LIMBS)
  for (const [code, instruction] of instructionsOf(has).entries()) {
    if (instruction === undefined) continue
    const { pops, pushes } = instruction
    gas[code] = instruction.gas
    need[code] = pops * LIMBS
    room[code] = (MAX_STACK - Math.max(pushes - pops, 0)) * LIMBS
  }
  return { gas, need, room }
}

function storagePrices(has: (fork: Fork) => boolean): StoragePrices {
  const clearRefund = has('london') ? 4800 : 15_000 // EIP-3529
  if (has('berlin')) return { net: true, sentry: 2300, noChange: 100, set: 20_000, reset: 2900, clearRefund }
  if (has('istanbul')) return { net: true, sentry: 2300, noChange: 800, set: 20_000, reset: 5000, clearRefund }
  // EIP-1283 was withdrawn by Petersburg (EIP-1716).
  const net = has('constantinople') && !has('petersburg')
  return { net, sentry: -1, noChange: 200, set: 20_000, reset: 5000, clearRefund }
}
