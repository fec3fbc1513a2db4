import { InvalidBlock } from '../chain/eth/invalidBlock.js'
import { IndexFault } from '../index/segments/verifyIndex.js'
import { CairnError, messageOf, UsageError } from '../lib/errors.js'
import { abbreviate, formatData } from '../lib/hex.js'
import {
  DatabaseEmpty,
  DatabaseMissing,
  DatabaseNotReadable,
  DatabaseOfEarlierBuild,
  DatabaseOutdated,
  DatabaseTooNew,
} from '../store/open.js'

/** Location of a fault in the database. */
export interface FaultPlace {
  table: string
  /** The row, for example `block 17, log 3`. */
  row?: string
}

/** A damaged database: the first difference found, with table, row and column. */
export class DatabaseFault extends CairnError {
  readonly table: string
  readonly row: string | undefined
  readonly field: string
  /** Expected and actual value as text; undefined when nothing was compared. */
  readonly expected: string | undefined
  readonly found: string
  constructor(
    { table, row }: FaultPlace,
    { field, expected, found }: { field: string; expected?: unknown; found: unknown },
    options?: ErrorOptions,
  ) {
    const [right, there] = [expected === undefined ? undefined : show(expected), show(found)]
    const values = right === undefined ? there : `expected ${right}, found ${there}`
    super(`${table}${row === undefined ? '' : `, ${row}`}: ${field}: ${values}`, options)
    this.table = table
    this.row = row
    this.field = field
    this.expected = right
    this.found = there
  }
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) return abbreviate(formatData(value))
  return value === null ? 'NULL' : abbreviate(String(value))
}

/** Runs the audit of one location. Read and decode errors become faults of that location. @throws DatabaseFault or
 *  IndexFault, and errors that do not concern the content: database locked, disk full */
export function atPlace<T>(place: FaultPlace, audit: () => T): T {
  try {
    return audit()
  } catch (error) {
    throw describeDamage(place, error)
  }
}

/** Errors that explain themselves. */
const NAMED = [
  IndexFault,
  UsageError,
  DatabaseMissing,
  DatabaseEmpty,
  DatabaseNotReadable,
  DatabaseOfEarlierBuild,
  DatabaseOutdated,
  DatabaseTooNew,
]

// SQLite errors caused by the machine and not by the content of the file.
const NO_DAMAGE = /^SQLITE_(BUSY|LOCKED|NOMEM|FULL|CANTOPEN|PERM|AUTH|INTERRUPT)/

function describeDamage(place: FaultPlace, error: unknown): unknown {
  if (error instanceof DatabaseFault || NAMED.some((named) => error instanceof named)) return error
  if (error instanceof InvalidBlock) {
    const { check: field, expected, actual } = error
    return new DatabaseFault(place, { field, expected, found: actual ?? error.message }, { cause: error })
  }
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && code.startsWith('SQLITE')) {
    if (NO_DAMAGE.test(code)) return error
    return new DatabaseFault(place, { field: 'cannot be read', found: messageOf(error) }, { cause: error })
  }
  // Decoders receive arbitrary bytes; their errors differ only in the message.
  return new DatabaseFault(place, { field: 'cannot be decoded', found: messageOf(error) }, { cause: error })
}
