import type { Database } from '../database.js'

/** The parts of a log that a filter compares. Topics 1 to 3 have no leading zero bytes; null when absent, empty for a
 *  zero topic. */
export type LogTailRow = [
  id: number,
  addressId: number,
  topic0Id: number | null,
  topic1: Buffer | null,
  topic2: Buffer | null,
  topic3: Buffer | null,
]

/** Returns a function that reads the rows with ids in [from, to), ordered by id. Its statement is prepared once. */
export function createLogTailRows(db: Database): (from: number, to: number) => LogTailRow[] {
  const select = db
    .prepare<[number, number], LogTailRow>(
      'SELECT id, address_id, topic0_id, topic1, topic2, topic3 FROM logs WHERE id >= ? AND id < ? ORDER BY id',
    )
    .raw()
  return (from, to) => select.all(from, to)
}
