import { CairnError } from '../../lib/errors.js'

/** A stream begins before the first stored block. */
export class StreamUnavailable extends CairnError {
  readonly from: number
  readonly firstAvailable: number
  constructor(fields: { from: number; firstAvailable: number }) {
    super(`from: blocks before ${fields.firstAvailable} are not available, got ${fields.from}`)
    this.from = fields.from
    this.firstAvailable = fields.firstAvailable
  }
}
