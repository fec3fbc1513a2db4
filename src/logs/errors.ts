import { CairnError } from '../lib/errors.js'

/** More logs match than one query may give. */
export class TooManyLogs extends CairnError {
  readonly limit: number
  constructor(fields: { limit: number }) {
    super(`more than ${fields.limit} logs match`)
    this.limit = fields.limit
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
