import { CairnError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'

/** A transaction cannot be part of its block. `rule` is the short name of the broken rule. */
export class InvalidTransaction extends CairnError {
  readonly index: number
  readonly rule: string
  constructor(index: number, hash: Uint8Array, rule: string, detail: string, options?: ErrorOptions) {
    super(`transaction ${index} (${formatData(hash)}): ${rule}: ${detail}`, options)
    this.index = index
    this.rule = rule
  }
}

/** The state of that block is not in the database. */
export class StateUnavailable extends CairnError {
  readonly blockNumber: number
  constructor(blockNumber: number) {
    super(`historical state ${blockNumber} is not available`)
    this.blockNumber = blockNumber
  }
}

/** With sparse state, the states of some blocks come from access lists: tries of these and of earlier blocks cannot be
 *  restored. */
export class ListedTrieUnavailable extends CairnError {
  constructor({ first, last }: { first: number; last: number }) {
    super(`the states of blocks ${first} to ${last} come from access lists`)
  }
}

/** The state trie of a block could not be restored in time: too much changed since. */
export class PastTrieTooFar extends CairnError {
  constructor(blockNumber: number, head: number, limitMs: number) {
    super(
      `the state trie of block ${blockNumber} cannot be restored within ${limitMs / 1000}s: it is ${head - blockNumber} blocks ` +
        'behind the head; ask for one of the last 128 blocks, or raise --call-timeout',
    )
  }
}

/** The call executed REVERT; `data` is its revert data. */
export class CallReverted extends CairnError {
  readonly data: Uint8Array
  constructor(data: Uint8Array) {
    super('execution reverted')
    this.data = data
  }
}

/** The call exceeded its memory limit. */
export class CallMemoryExceeded extends CairnError {
  readonly limit: number
  constructor(limit: number) {
    super(`out of memory budget: the call needs more than ${limit} bytes`)
    this.limit = limit
  }
}

/** The call returned, or reverted with, more data than allowed. */
export class ReturnDataTooLong extends CairnError {
  readonly reverted: boolean
  readonly length: number
  readonly limit: number
  constructor({ reverted, length, limit }: { reverted: boolean; length: number; limit: number }) {
    const data = reverted ? 'execution reverted: revert' : 'return'
    super(`${data} data of ${length} bytes exceeds the limit of ${limit}`)
    this.reverted = reverted
    this.length = length
    this.limit = limit
  }
}

/** The call could not be executed or failed; the message uses geth's words, for example `out of gas`. */
export class CallFailed extends CairnError {}

/** The call cannot start: it is not a valid transaction, or its sender lacks funds or gas. `reason` and message use
 *  geth's words for `eth_call`. */
export class CallRefused extends CallFailed {
  readonly rule: CallRule
  readonly reason: string
  readonly gasLimit: bigint
  constructor(rule: CallRule, reason: string, gasLimit: bigint) {
    super(`err: ${reason} (supplied gas ${gasLimit})`)
    this.rule = rule
    this.reason = reason
    this.gasLimit = gasLimit
  }
}

/** The rule that a call breaks. More gas can fix only 'intrinsic gas'. */
export type CallRule =
  | 'nonce too low'
  | 'nonce too high'
  | 'nonce max'
  | 'fee cap'
  | 'priority fee'
  | 'intrinsic gas'
  | 'funds'
  | 'init code size'
  | 'other'

/** The requested blocks cannot be simulated. */
export class SimulationRefused extends CairnError {
  readonly rule: SimulationRule
  constructor(rule: SimulationRule, message: string) {
    super(message)
    this.rule = rule
  }
}

/** Why a simulation is refused: a broken rule of one of its calls, or of its blocks. */
export type SimulationRule = CallRule | 'difficulty' | 'block number' | 'block timestamp' | 'block gas limit' | 'limit'
