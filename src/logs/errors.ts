import { DeadlineExceeded } from '../lib/deadline.js'
import { CairnError } from '../lib/errors.js'

/** Blocks [from, to], both inclusive. */
export interface BlockRange {
  from: number
  to: number
}

/** More logs match than one query may give. */
export class TooManyLogs extends CairnError {
  readonly limit: number
  /** Id of the log that is one too many. */
  readonly log: number
  /** The blocks before that log's, as many as the filter begins with: they hold at most `limit` of the logs. Undefined when
   *  the first block alone holds more. */
  readonly fits?: BlockRange
  constructor(fields: { limit: number; log: number; fits?: BlockRange }) {
    super(`more than ${fields.limit} logs match`)
    this.limit = fields.limit
    this.log = fields.log
    this.fits = fields.fits
  }
}

/** A log query ran past its deadline while it went through rows. */
export class LogScanTimeout extends DeadlineExceeded {
  /** All logs below this id were looked at in the first half of the time; undefined when none were. */
  readonly scannedTo?: number
  /** The whole blocks of these logs: the same query of them alone is answered in time, unless the machine is busier. */
  readonly fits?: BlockRange
  constructor(fields: { limitMs: number; scannedTo?: number; fits?: BlockRange }) {
    super(fields.limitMs)
    this.scannedTo = fields.scannedTo
    this.fits = fields.fits
  }
}

/** A filter holds more addresses and topic values together than one query may. */
export class TooManyFilterParams extends CairnError {
  readonly count: number
  readonly limit: number
  constructor(fields: { count: number; limit: number }) {
    super(`the filter holds ${fields.count} parameters, at most ${fields.limit} are allowed`)
    this.count = fields.count
    this.limit = fields.limit
  }
}

/** A filter names more topic positions than a log can have. */
export class TooManyTopics extends CairnError {
  readonly count: number
  constructor(fields: { count: number }) {
    super(`the filter names ${fields.count} topic positions, a log has at most 4`)
    this.count = fields.count
  }
}

/** A range begins before the first block that the database holds, so that logs would be missing from the answer. */
export class LogsNotHeld extends CairnError {
  readonly fromBlock: number
  readonly firstHeld: number
  constructor(fields: { fromBlock: number; firstHeld: number }) {
    super(`logs before block ${fields.firstHeld} are not held, the range begins at ${fields.fromBlock}`)
    this.fromBlock = fields.fromBlock
    this.firstHeld = fields.firstHeld
  }
}
