import { CairnError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'

/** A transaction cannot be part of its block. `rule` is a short name of what it breaks. */
export class InvalidTransaction extends CairnError {
  readonly index: number
  readonly rule: string
  constructor(index: number, hash: Uint8Array, rule: string, detail: string, options?: ErrorOptions) {
    super(`transaction ${index} (${formatData(hash)}): ${rule}: ${detail}`, options)
    this.index = index
    this.rule = rule
  }
}

/** State of that block is not in the database. */
export class StateUnavailable extends CairnError {
  readonly blockNumber: number
  constructor(blockNumber: number) {
    super(`historical state ${blockNumber} is not available`)
    this.blockNumber = blockNumber
  }
}

/** The call executed a REVERT; `data` is what it gave. */
export class CallReverted extends CairnError {
  readonly data: Uint8Array
  constructor(data: Uint8Array) {
    super('execution reverted')
    this.data = data
  }
}

/** The call could not be executed or failed otherwise; the message has geth's words, as `out of gas`. */
export class CallFailed extends CairnError {}
