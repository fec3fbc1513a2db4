import type { Fork, Rules } from '../../chain/eth/forks.js'
import { instructionsOf } from './opcodes/instructions.js'
import { LIMBS } from './words/words.js'

/** SSTORE prices (EIP-1283, 2200, 2929, 3529, 8038). `net`: net gas metering. */
export interface StoragePrices {
  net: boolean
  /** EIP-2200: out of gas if at most this much gas is left. -1: not checked. */
  sentry: number
  noChange: number
  set: number
  reset: number
  clearRefund: number
  /** EIP-2929: surcharge of the first access in a transaction. */
  cold: number
  /** EIP-8037: state gas of a new slot. Zero before Amsterdam. */
  stateGas: number
}

/** Rules of a fork as the interpreter needs them. */
export interface EvmRules {
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
  /** EIP-150, EIP-8038: gas for a SELFDESTRUCT that creates an account. */
  readonly destructNewAccountGas: number
  /** EIP-2929, EIP-8038: gas of the first access to an account in a transaction. */
  readonly coldAccountGas: number
  /** Gas of a CALL with value, and of one that creates an account (Yellow Paper, EIP-8038). */
  readonly callValueGas: number
  readonly callNewAccountGas: number
  /** Gas of contract code per byte, and per word of 32 bytes (Yellow Paper, EIP-8037). */
  readonly codeByteGas: number
  readonly codeWordGas: number
  /** EIP-7610: a contract cannot be created at an address with storage. */
  readonly eip7610: boolean
  /** EIP-7708: transfers of ether are logged. */
  readonly eip7708: boolean
  /** EIP-8037: state gas of instructions, in addition to execution gas. */
  readonly eip8037: boolean
  /** The rest of EIP-8037 and EIP-2780: state gas for creations and for what transactions create, and refunds for
   *  failed calls. False at Bogota without Amsterdam. */
  readonly eip8037Full: boolean
  /** EIP-8246: SELFDESTRUCT burns nothing. */
  readonly eip8246: boolean
}

/** State gas of an account and of a byte of code (EIP-8037), from Amsterdam on. */
export const NEW_ACCOUNT_STATE_GAS = 183_600
export const CODE_BYTE_STATE_GAS = 1530

const MAX_CODE_SIZE = 24_576 // EIP-170
const AMSTERDAM_MAX_CODE_SIZE = 65_536 // EIP-7954
/** Maximum stack height in words (Yellow Paper, 9.1). */
export const MAX_STACK = 1024

/** The rules of a block for the interpreter. */
export function createEvmRules(rules: Rules): EvmRules {
  const has = (fork: Fork) => rules.has(fork)
  // Whether the fork's instructions and prices apply.
  const hasGas = (fork: Fork) => has(fork) || (fork === 'amsterdam' && has('bogota'))
  return {
    fork: rules.fork,
    ...stackTables(hasGas),
    storage: storagePrices(hasGas),
    expByteGas: has('spuriousDragon') ? 50 : 10, // EIP-160
    homestead: has('homestead'),
    eip150: has('tangerineWhistle'),
    eip161: has('spuriousDragon'),
    maxCodeSize: has('spuriousDragon') ? maxCodeSize(has) : Infinity,
    maxInitCodeSize: maxInitCodeSize(rules),
    initCodeWordGas: has('shanghai') ? 2 : 0,
    eip2929: has('berlin'),
    london: has('london'),
    warmCoinbase: has('shanghai'),
    keepsOldDestructed: has('cancun'),
    delegations: has('prague'),
    destructRefund: has('london') ? 0 : 24_000, // EIP-3529
    destructNewAccountGas: hasGas('amsterdam') ? 9000 : has('tangerineWhistle') ? 25_000 : 0,
    coldAccountGas: hasGas('amsterdam') ? 3000 : 2600,
    callValueGas: hasGas('amsterdam') ? 11_300 : 9000,
    callNewAccountGas: hasGas('amsterdam') ? 0 : 25_000,
    codeByteGas: has('amsterdam') ? 0 : 200,
    codeWordGas: has('amsterdam') ? 6 : 0,
    eip7610: !has('amsterdam'),
    eip7708: has('amsterdam'),
    eip8037: hasGas('amsterdam'),
    eip8037Full: has('amsterdam'),
    eip8246: has('amsterdam'),
  }
}

function maxCodeSize(has: (fork: Fork) => boolean): number {
  return has('amsterdam') ? AMSTERDAM_MAX_CODE_SIZE : MAX_CODE_SIZE
}

/** EIP-3860, EIP-7954: maximum init code size in bytes. Infinite before Shanghai. */
export function maxInitCodeSize(rules: Rules): number {
  return rules.has('shanghai') ? 2 * maxCodeSize(rules.has) : Infinity
}

// EXP, LOG0 to LOG4, and SELFDESTRUCT before Berlin: all of their price is dynamic in geth.
const ALL_DYNAMIC = [0x0a, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4]
// BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH, calls: from Berlin on the constant part is a warm access.
const ACCOUNT_ACCESSES = [0x31, 0x3b, 0x3c, 0x3f, 0xf1, 0xf2, 0xf4, 0xfa]

function shownGas(gas: Float64Array, has: (fork: Fork) => boolean): Float64Array {
  const out = gas.map((each) => (each === Infinity ? 0 : each))
  for (const op of ALL_DYNAMIC) out[op] = 0
  if (!has('berlin')) out[0xff] = 0
  else for (const op of ACCOUNT_ACCESSES) out[op] = 100
  return out
}

function stackTables(has: (fork: Fork) => boolean): Pick<EvmRules, 'gas' | 'shownGas' | 'need' | 'room'> {
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
  return { gas, shownGas: shownGas(gas, has), need, room }
}

function storagePrices(has: (fork: Fork) => boolean): StoragePrices {
  const net = { net: true, sentry: 2300, noChange: 100, cold: 2100, stateGas: 0 }
  if (has('amsterdam')) {
    // EIP-8038: the cold access replaces the warm one of 100.
    return { ...net, set: 10_100, reset: 10_100, clearRefund: 11_616, cold: 2000, stateGas: 97_920 }
  }
  const clearRefund = has('london') ? 4800 : 15_000 // EIP-3529
  if (has('berlin')) return { ...net, set: 20_000, reset: 2900, clearRefund }
  if (has('istanbul')) return { ...net, noChange: 800, set: 20_000, reset: 5000, clearRefund }
  // EIP-1283 was withdrawn by Petersburg (EIP-1716).
  const isNet = has('constantinople') && !has('petersburg')
  return { ...net, net: isNet, sentry: -1, noChange: 200, set: 20_000, reset: 5000, clearRefund }
}
