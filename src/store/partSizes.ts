import type { Database } from './database.js'
import type { TableSize } from './databaseFacts.js'
import { historyTables } from './state/historySql.js'
import { createStateTrieTable } from './state/stateTrieTable.js'

/** A part of the database and its bytes per item. */
export interface PartSize {
  readonly part: string
  readonly unit: string
  readonly items: number
  /** Total size of the pages of its tables and of their SQL indexes. */
  readonly bytes: number
  /** Null without items. */
  readonly bytesPerItem: number | null
}

/** Parts by their tables, and the table whose rows are counted: by default the first one. */
const PARTS: readonly {
  readonly part: string
  readonly unit: string
  readonly tables: readonly string[]
  readonly counted?: readonly string[]
}[] = [
  { part: 'blocks', unit: 'block', tables: ['blocks', 'uncles', 'block_access_lists'] },
  { part: 'transactions and receipts', unit: 'transaction', tables: ['transactions', 'receipts'] },
  {
    part: 'transaction index',
    unit: 'transaction',
    tables: ['transaction_segments', 'transaction_buckets'],
    counted: ['transactions'],
  },
  {
    part: 'address index',
    unit: 'transaction',
    tables: ['address_appearances', 'address_segments', 'address_buckets', 'address_big_postings'],
    counted: ['transactions'],
  },
  { part: 'trace index', unit: 'transaction', tables: ['traces'], counted: ['transactions'] },
  { part: 'logs', unit: 'log', tables: ['logs', 'topics'] },
  { part: 'log index', unit: 'log', tables: ['log_segments', 'log_buckets', 'log_big_postings'], counted: ['logs'] },
  {
    part: 'account history',
    unit: 'change of an account',
    tables: historyTables('account'),
    counted: historyTables('account'),
  },
  {
    part: 'storage history',
    unit: 'change of a slot',
    tables: historyTables('storage'),
    counted: historyTables('storage'),
  },
  { part: 'accounts of a state dump', unit: 'account', tables: ['hashed_accounts'] },
  { part: 'slots of a state dump', unit: 'slot', tables: ['hashed_storage'] },
  { part: 'changed accounts and slots by block', unit: 'block', tables: ['changed_keys'] },
  { part: 'code', unit: 'contract code', tables: ['code'] },
  { part: 'addresses', unit: 'address', tables: ['addresses'] },
  { part: 'state trie', unit: 'account', tables: ['state_trie_pages'] },
  {
    part: 'state tries of the last blocks',
    unit: 'layer',
    tables: ['trie_layers', 'trie_layer_parts', 'trie_page_versions'],
  },
  { part: 'sparse state for replicas', unit: 'entry', tables: ['state_log'] },
  {
    part: 'layer 2',
    unit: 'layer-2 block',
    tables: ['l2_blocks', 'l2_block_txs', 'l2_events', 'l2_event_terms', 'l2_state_updates'],
  },
]

/** Sums table sizes by part of the database, without parts whose sizes are unknown. A part with few rows takes at least
 *  a page of 4 KiB for each table and index. */
export function sumParts(db: Database, tables: readonly TableSize[]): PartSize[] {
  const byName = new Map(tables.map((table) => [table.table, table]))
  const accounts = createStateTrieTable(db).head()?.accounts ?? 0
  return PARTS.flatMap(({ part, unit, tables: names, counted = [names[0]] }) => {
    const own = names.map((name) => byName.get(name)?.bytes ?? null)
    if (own.every((bytes) => bytes === null)) return []
    const bytes = own.reduce<number>((sum, each) => sum + (each ?? 0), 0)
    const items =
      part === 'state trie' ? accounts : counted.reduce((sum, table) => sum + (byName.get(table)?.rows ?? 0), 0)
    return [{ part, unit, items, bytes, bytesPerItem: items === 0 ? null : Math.round((bytes / items) * 10) / 10 }]
  })
}
