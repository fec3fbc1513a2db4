/* The state history is in pairs of tables: `account_history` and `account_recent`, `storage_history` and
 * `storage_recent`. Blocks at the tip are written to the small `_recent` tables, which takes a tenth of the
 * time, and the rows are moved later (recentRows.ts).
 *
 * Each row is in one table of its pair, and for the same key (an address id; or an address id, an incarnation and a
 * slot) every row in the `_recent` table has a higher block number than every row in the `_history` table. All SQL that
 * reads the history is built here. Positional parameters are bound once for each table, `_recent` first unless stated
 * otherwise. Neither table has an index by block: changedKeys.ts reads what a block changed. */

/** Subject of a history. */
export type HistoryKind = 'account' | 'storage'

/** All tables of the history. */
export const HISTORY_TABLES = ['account_history', 'account_recent', 'storage_history', 'storage_recent']

/** The columns of a key: the primary keys are these and the block number. */
export const KEY_COLUMNS = { account: ['address_id'], storage: ['address_id', 'incarnation', 'slot'] } as const

/** Makes one object for each table, for results that are not merged in SQL. */
export function eachOfBoth<T>(kind: HistoryKind, make: (table: string) => T): [recent: T, history: T] {
  return [make(`${kind}_recent`), make(`${kind}_history`)]
}

/** SQL that returns the rows of both tables; `select` makes the statement for one of them. */
export function fromBoth(kind: HistoryKind, select: (table: string) => string): string {
  return eachOfBoth(kind, select).join(' UNION ALL ')
}

/** SQL of the rows of accounts in one block. `select` gets the text after FROM, with the alias `h`. Named parameters:
 *  `ids`, a JSON list of address ids; `number`, the block. */
export function accountsInBlock(select: (from: string) => string): string {
  return fromBoth('account', (table) =>
    select(`json_each(@ids) k CROSS JOIN ${table} h ON h.address_id = k.value AND h.block_number = @number`),
  )
}

/** SQL of the newest row of a key: `where` names the key and ends with the highest block number. No row when the key
 *  has none. The second table is read only when the first one has no row. */
export function newestRow(kind: HistoryKind, columns: string, where: string): string {
  const newest = (table: string) =>
    `SELECT * FROM (SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY block_number DESC LIMIT 1)`
  return `${fromBoth(kind, newest)} LIMIT 1`
}

/** As `newestRow`, for one expression that is not NULL: one row, NULL when the key has none. Takes 0.3 µs less. `from`
 *  has the row that `where` compares with. */
export function newestValue(
  kind: HistoryKind,
  expression: string,
  { from, where }: { from: string; where: string },
): string {
  const newest = (table: string) =>
    `(SELECT ${expression} FROM ${table} WHERE ${where} ORDER BY block_number DESC LIMIT 1)`
  return `SELECT ifnull(${newest(`${kind}_recent`)}, ${newest(`${kind}_history`)}) FROM ${from}`
}

/* A parameter for each table would be bound twice: binding one of eight takes a tenth of the time of such a read. */

/** `from` and `where` of the newest value of a slot, up to a block: four parameters in the order of the columns. */
export const SLOT_AT_BLOCK = {
  from: '(SELECT ? AS address, ? AS incarnation, ? AS slot, ? AS block) k',
  where: 'address_id = k.address AND incarnation = k.incarnation AND slot = k.slot AND block_number <= k.block',
}

/** SQL of the oldest block number of a key: `where` names the key and ends with the block number that it is above. One
 *  row, NULL if missing. Parameters are bound for `_history` first. */
export function nextBlock(kind: HistoryKind, where: string): string {
  const oldest = (table: string) => `(SELECT block_number FROM ${table} WHERE ${where} ORDER BY block_number LIMIT 1)`
  return `SELECT ifnull(${oldest(`${kind}_history`)}, ${oldest(`${kind}_recent`)})`
}
