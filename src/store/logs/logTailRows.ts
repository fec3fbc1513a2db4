import type { Database } from '../database.js'

/** What a filter compares of a log. Topics 1 to 3 are without leading zero bytes, null where absent; a topic of zeros
 *  is empty. */
export type LogTailRow = [
  id: number,
  addressId: number,
  topic0Id: number | null,
  topic1: Buffer | null,
  topic2: Buffer | null,
  topic3: Buffer | null,
]

/** A function that gives the rows with ids in [from, to), by id, through a statement prepared once. */
export function createLogTailRows(db: Database): (from: number, to: number) => LogTailRow[] {
  const select = db
    .prepare<[number, number], LogTailRow>(
      'SELECT id, address_id, topic0_id, topic1, topic2, topic3 FROM logs WHERE id >= ? AND id < ? ORDER BY id',
    )
    .raw()
  return (from, to) => select.all(from, to)
}
