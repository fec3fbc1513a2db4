import type { Database } from '../database.js'
import { prepareInsert } from '../rows/bodyInserts.js'
import { RECEIPT_COLUMNS, type RowValue, TRANSACTION_COLUMNS } from '../rows/bodyRows.js'
import { createLogInserts } from '../rows/logInserts.js'

/* Schema versions 6 to 8 stored the newest block's transactions, receipts and logs as one blob in `packed_bodies` and
 * converted it to rows in a second transaction. A process killed in between left the blob. */

/** Converts a packed body to rows, in its own transaction, for the migration that drops its table. No-op without one.
 *  @throws Error when the bytes are not a packed body */
export function unpackBody(db: Database): void {
  if (!db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'packed_bodies'").get()) return
  const data = db.prepare<[], Buffer>('SELECT data FROM packed_bodies').pluck().get()
  if (!data) return
  const next = createValueReader(data)
  const transactions = prepareInsert(db, 'transactions', TRANSACTION_COLUMNS)
  const receipts = prepareInsert(db, 'receipts', RECEIPT_COLUMNS)
  const logs = createLogInserts(db)
  const readRow = (columns: readonly string[]) => columns.map(() => bound(next()))
  db.transaction(() => {
    const count = next() as number
    for (let txIndex = 0; txIndex < count; txIndex++) {
      transactions.run(...readRow(TRANSACTION_COLUMNS))
      const receipt = readRow(RECEIPT_COLUMNS)
      receipts.run(...receipt)
      const [firstLog, logCount] = receipt.slice(-2).map(Number)
      for (let i = 0; i < logCount; i++) {
        const address = next() as Uint8Array
        const topics = Array.from({ length: next() as number }, () => next() as Uint8Array)
        logs.insert(firstLog + i, txIndex, { address, topics, data: next() as Uint8Array })
      }
    }
    logs.flush()
    db.exec('DELETE FROM packed_bodies')
  })()
}

type PackedValue = null | number | string | Uint8Array

/** A number would be stored as a REAL in columns without affinity. */
function bound(value: PackedValue): RowValue {
  return typeof value === 'number' ? BigInt(value) : value
}

// First byte of a value: up to 0xef the length in bytes, else one of the following.
const MAX_SHORT = 0xef
const NULL = 0xf0
const INTEGER_8 = 0xf1
const INTEGER_32 = 0xf2
/** A double. */
const INTEGER_53 = 0xf3
/** Followed by a one-byte count and that many decimal digits. */
const DIGITS = 0xf4
/** Followed by a four-byte length and the bytes. */
const LONG = 0xf5

/** Reads the values one after another. Bytes are views of `packed`. */
function createValueReader(packed: Buffer): () => PackedValue {
  let at = 0
  const take = (length: number) => {
    const from = at
    at += length
    return packed.subarray(from, at)
  }
  return () => {
    const kind = packed[at++]
    if (kind <= MAX_SHORT) return take(kind)
    switch (kind) {
      case NULL:
        return null
      case INTEGER_8:
        return packed[at++]
      case INTEGER_32:
        at += 4
        return packed.readUInt32LE(at - 4)
      case INTEGER_53:
        at += 8
        return packed.readDoubleLE(at - 8)
      case DIGITS: {
        const length = packed[at++]
        return take(length).toString('latin1')
      }
      case LONG:
        at += 4
        return take(packed.readUInt32LE(at - 4))
      default:
        throw new Error(`packed_bodies: 0x${kind?.toString(16)} at ${at - 1} is no kind of value`)
    }
  }
}
