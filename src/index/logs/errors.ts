import type { BlockRange } from '../../chain/eth/types.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'

/** More logs match than a query may return. */
export class TooManyLogs extends CairnError {
  readonly limit: number
  /** Id of the first log over the limit. */
  readonly log: number
  /** The blocks before the block of that log, from the start of the filter: they contain at most `limit` logs.
   *  Undefined when the first block alone exceeds it. */
  readonly fits?: BlockRange
  constructor(fields: { limit: number; log: number; fits?: BlockRange }) {
    super(`more than ${fields.limit} logs match`)
    this.limit = fields.limit
    this.log = fields.log
    this.fits = fields.fits
  }
}

/** A log query exceeded its deadline while reading rows. */
export class LogScanTimeout extends DeadlineExceeded {
  /** All logs below this id were checked in the first half of the time; undefined when none were. */
  readonly scannedTo?: number
  /** The complete blocks of these logs: the same query over them succeeds in time, unless the machine is busier. */
  readonly fits?: BlockRange
  constructor(fields: { limitMs: number; scannedTo?: number; fits?: BlockRange }) {
    super(fields.limitMs)
    this.scannedTo = fields.scannedTo
    this.fits = fields.fits
  }
}

/** The filter has more addresses and topic values than a query may have. */
export class TooManyFilterParams extends CairnError {
  readonly count: number
  readonly limit: number
  constructor(fields: { count: number; limit: number }) {
    super(`the filter holds ${fields.count} parameters, at most ${fields.limit} are allowed`)
    this.count = fields.count
    this.limit = fields.limit
  }
}

/** The filter has more topic positions than a log. */
export class TooManyTopics extends CairnError {
  readonly count: number
  constructor(fields: { count: number }) {
    super(`the filter names ${fields.count} topic positions, a log has at most 4`)
    this.count = fields.count
  }
}

/** The range begins before the first stored block, so the result would be incomplete. */
export class LogsUnavailable extends CairnError {
  readonly fromBlock: number
  readonly firstAvailable: number
  constructor(fields: { fromBlock: number; firstAvailable: number }) {
    super(`logs before block ${fields.firstAvailable} are not available, the range begins at ${fields.fromBlock}`)
    this.fromBlock = fields.fromBlock
    this.firstAvailable = fields.firstAvailable
  }
}
