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

/** The call cannot start: it could not be a transaction, or its sender lacks funds or gas. `reason` and message use
 *  geth's words for `eth_call`. */
export class CallRefused extends CallFailed {
  readonly reason: string
  readonly gasLimit: bigint
  /** True if it could start with more gas. */
  readonly needsGas: boolean
  constructor(reason: string, gasLimit: bigint, needsGas: boolean) {
    super(`err: ${reason} (supplied gas ${gasLimit})`)
    this.reason = reason
    this.gasLimit = gasLimit
    this.needsGas = needsGas
  }
}
