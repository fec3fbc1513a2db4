import { CairnError, messageOf, UsageError } from '../../lib/errors.js'
import { abbreviate, formatData } from '../../lib/hex.js'
import { IndexFault } from '../../segments/verifyIndex.js'
import { DatabaseMissing, DatabaseNotReadable, DatabaseOutdated, DatabaseTooNew } from '../../store/open.js'
import { InvalidBlock } from '../verify.js'

/** Where a database is not what it should be. */
export interface FaultPlace {
  table: string
  /** The row, in words: `block 17, log 3`. */
  row?: string
}

/** A database is damaged. The first difference that was found, by table, row and column. */
export class DatabaseFault extends CairnError {
  readonly table: string
  readonly row: string | undefined
  readonly field: string
  /** What would be right and what is there, as text; undefined where nothing is compared. */
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

/** Runs the audit of one place. What cannot be read or decoded there is a fault of that place.
 *  @throws DatabaseFault or IndexFault, and what says nothing of the content: that the database is locked, or the disk full. */
export function atPlace<T>(place: FaultPlace, audit: () => T): T {
  try {
    return audit()
  } catch (error) {
    throw describeDamage(place, error)
  }
}

/** Failures that say what they are. */
const NAMED = [IndexFault, UsageError, DatabaseMissing, DatabaseNotReadable, DatabaseOutdated, DatabaseTooNew]

// SQLite errors that are about the machine and not about what lies in the file.
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
  // Decoders meet bytes that nothing wrote; of what they throw, only the message differs.
  return new DatabaseFault(place, { field: 'cannot be decoded', found: messageOf(error) }, { cause: error })
}
