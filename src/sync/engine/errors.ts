import { CairnError } from '../../lib/errors.js'

/** Why a request of a consensus client is answered with an error: `server/engine` maps each to its code. */
export type EngineReason =
  | 'unknown method'
  | 'invalid params'
  | 'unsupported fork'
  | 'invalid fork choice'
  | 'invalid attributes'
  | 'too deep reorg'
  | 'unknown payload'
  | 'too large request'
  | 'internal'

/** A request that cannot be answered with a result. */
export class EngineRefusal extends CairnError {
  readonly reason: EngineReason
  constructor(reason: EngineReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** A payload that is not a block: a transaction cannot be decoded, or a hash differs from the fields. */
export class InvalidPayload extends CairnError {}
