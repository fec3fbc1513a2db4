/* The state history is in four tables of each kind: `account_tip`, `account_recent`, `account_older` and
 * `account_history`, likewise of storage. Blocks at the tip are written to the small `_tip` tables, and the rows are
 * moved from one table to the next later, those of ever more blocks at once (recentRows.ts): a block changes keys all
 * over the state, so the fewer pages a table has, the fewer are written.
 *
 * Each row is in one table of its kind, and for the same key (an address id; or an address id, an incarnation and a
 * slot) every row in a table has a higher block number than every row in those after it. All SQL that reads the history
 * is built here. Positional parameters are bound once for each table (`eachBound`) unless stated otherwise. No table
 * has an index by block: changedKeys.ts reads what a block changed. */

/** Subject of a history. */
export type HistoryKind = 'account' | 'storage'

/** Tables of a history, by the blocks of their rows. */
const LEVELS = ['tip', 'recent', 'older', 'history'] as const

/** @returns the tables of a history, that of the newest rows first */
export function historyTables(kind: HistoryKind): string[] {
  return LEVELS.map((level) => `${kind}_${level}`)
}

/** All tables of the history. */
export const HISTORY_TABLES = [...historyTables('account'), ...historyTables('storage')]

/** The columns of a key: the primary keys are these and the block number. */
export const KEY_COLUMNS = { account: ['address_id'], storage: ['address_id', 'incarnation', 'slot'] } as const

/** Makes one object for each table, that of the newest rows first, for results that are not merged in SQL. */
export function eachTable<T>(kind: HistoryKind, make: (table: string) => T): T[] {
  return historyTables(kind).map(make)
}

/** @returns positional parameters for all tables */
export function eachBound<T>(...parameters: T[]): T[] {
  return LEVELS.flatMap(() => parameters)
}

/** SQL that returns the rows of all tables, the newest rows of a key first; `select` makes the statement for one of
 *  them. */
export function fromTables(kind: HistoryKind, select: (table: string) => string): string {
  return eachTable(kind, select).join(' UNION ALL ')
}

/** SQL of the rows of accounts in one block. `select` gets the text after FROM, with the alias `h`. Named parameters:
 *  `ids`, a JSON list of address ids; `number`, the block. */
export function accountsInBlock(select: (from: string) => string): string {
  return fromTables('account', (table) =>
    select(`json_each(@ids) k CROSS JOIN ${table} h ON h.address_id = k.value AND h.block_number = @number`),
  )
}

/** SQL of the newest row of a key: `where` names the key and ends with the highest block number. No row when the key
 *  has none. A table is read only when those before it have no row. */
export function newestRow(kind: HistoryKind, columns: string, where: string): string {
  const newest = (table: string) =>
    `SELECT * FROM (SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY block_number DESC LIMIT 1)`
  return `${fromTables(kind, newest)} LIMIT 1`
}

/** As `newestRow`, for one expression that is not NULL: one row, NULL when the key has none. Takes 0.3 µs less. `from`
 *  has the row that `where` compares with. */
export function newestValue(
  kind: HistoryKind,
  expression: string,
  { from, where }: { from: string; where: string },
): string {
  const newest = eachTable(
    kind,
    (table) => `(SELECT ${expression} FROM ${table} WHERE ${where} ORDER BY block_number DESC LIMIT 1)`,
  )
  return `SELECT coalesce(${newest.join(', ')}) FROM ${from}`
}

/* A parameter for each table would be bound four times: binding one of eight takes a tenth of the time of a read. */

const SLOT = 'address_id = k.address AND incarnation = k.incarnation AND slot = k.slot'

/** `from` and `where` of the newest value of a slot up to a block, `whereAbove` of its later rows: four parameters in
 *  the order of the columns. */
export const SLOT_AT_BLOCK = {
  from: '(SELECT ? AS address, ? AS incarnation, ? AS slot, ? AS block) k',
  where: `${SLOT} AND block_number <= k.block`,
  whereAbove: `${SLOT} AND block_number > k.block`,
}

/** SQL of the oldest block number of a key: `where` names the key and ends with the block number that it is above. One
 *  row, NULL if missing. */
export function nextBlock(kind: HistoryKind, where: string): string {
  const oldest = eachTable(
    kind,
    (table) => `(SELECT block_number FROM ${table} WHERE ${where} ORDER BY block_number LIMIT 1)`,
  )
  return `SELECT coalesce(${oldest.reverse().join(', ')})`
}
