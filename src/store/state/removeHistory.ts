import type { Database } from '../database.js'
import { createChangedKeysReader, decodeAccountKeys, visitSlotKeys } from './changedKeys.js'
import { eachTable, type HistoryKind, KEY_COLUMNS } from './historySql.js'

/** Removes the state history of all blocks above `number`, and their changed keys. Call it in a transaction. */
export function removeHistoryAbove(db: Database, number: number): void {
  const keys = createChangedKeysReader(db)
  const [removeAccount, removeSlot] = [createRemoval(db, 'account'), createRemoval(db, 'storage')]
  const numbers = db
    .prepare<[number], number>(
      'SELECT block_number FROM changed_keys WHERE block_number > ? ORDER BY block_number DESC',
    )
    .pluck()
    .all(number)
  for (const blockNumber of numbers) {
    const { accounts, slots } = keys.block(blockNumber)!
    for (const addressId of decodeAccountKeys(accounts)) removeAccount(addressId, blockNumber)
    visitSlotKeys(slots, (addressId, incarnation, slot) => removeSlot(addressId, incarnation, slot, blockNumber))
  }
  db.prepare('DELETE FROM changed_keys WHERE block_number > ?').run(number)
}

/** Returns the removal of a row from the table in which it is, by the columns of its key and its block number: true if
 *  there was one. */
export function createRemoval(db: Database, kind: HistoryKind): (...key: unknown[]) => boolean {
  const where = [...KEY_COLUMNS[kind], 'block_number'].map((column) => `${column} = ?`).join(' AND ')
  const removals = eachTable(kind, (table) => db.prepare<unknown[]>(`DELETE FROM ${table} WHERE ${where}`))
  return (...key) => removals.some((remove) => remove.run(...key).changes > 0)
}
