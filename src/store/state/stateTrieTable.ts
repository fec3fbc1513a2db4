import SqliteDatabase from 'better-sqlite3'
import type { Database } from '../database.js'
import { keepPlans } from '../keepPlans.js'
import { createMetaTable, META_STATE_TRIE } from '../meta.js'
import { TrieLayers } from './trieLayers.js'
import { createTriePageRows } from './triePages.js'

/** The block whose state a trie represents. */
export interface TrieBlock {
  number: number
  /** In hex. */
  hash: string
}

/** Identifies the stored trie. */
export interface StateTrieHead {
  /** The state root, in hex. */
  root: string
  /** Reference to the root node (trie/nodeFormat.ts), in hex; empty for an empty state. */
  top: string
  /** The next unused page id. */
  nextPage: number
  accounts: number
  /** The block of the state; absent while the trie is being built. */
  block?: TrieBlock
  /** Present while the trie is being built from state rows: the hash of the block (hex), and the address id up to which
   *  accounts are included. */
  building?: { blockHash: string; addressId: number }
  /** Present while tries of earlier blocks can be read (trieHistory.ts): of [from, head]. `nextPage` is the next unused
   *  id of pages that only those have. The stored trie can be unwound to those of [recorded, head]; `recorded` is
   *  absent when it cannot be. */
  history?: { head: number; from: number; nextPage: number; recorded?: number }
}

/** The stored pages of the trie of the newest state. Writes join the caller's transaction. */
export interface StateTrieTable {
  /** @throws Error for a page that does not exist. */
  read(page: number): Uint8Array
  /** `before`: the content so far, where it is known. */
  write(page: number, bytes: Uint8Array, before?: Uint8Array): void
  remove(page: number): void
  /** Removes all pages with ids from `page` on. */
  removeFrom(page: number): void
  /** Undefined when no trie was stored. */
  head(): StateTrieHead | undefined
  setHead(head: StateTrieHead): void
  /** Number of pages and largest page id; 0 when the table is empty. */
  extent(): { count: number; lastId: number }
  readonly inTransaction: boolean
}

/** Accesses the table of an open database. Writes need a writing connection, and end the layers above the table.
 *  Another connection's commits are seen from the next `head` on. */
export function createStateTrieTable(db: Database): StateTrieTable {
  const rows = createTriePageRows(db)
  const layers = TrieLayers.of(db)
  const meta = createMetaTable(db)
  let isRead = false
  let isChanged = false
  const change = () => {
    layers.flushAll()
    isChanged = true
  }
  return {
    read: (page) => {
      if (!isRead) layers.refresh()
      isRead = true
      return requirePage(page, layers.read(page))
    },
    write: (page, bytes) => {
      change()
      rows.write(page, bytes)
    },
    remove: (page) => {
      change()
      rows.remove(page)
    },
    removeFrom: (page) => {
      if (page <= 1) layers.removeAll()
      change()
      rows.removeFrom(page)
    },
    head: () => {
      isRead = false
      return meta.get(META_STATE_TRIE)
    },
    setHead: (head) => {
      if (isChanged) layers.beginEdition()
      isChanged = false
      meta.set(META_STATE_TRIE, head)
    },
    extent: () => {
      layers.refresh()
      return layers.extent()
    },
    get inTransaction() {
      return db.inTransaction
    },
  }
}

/** Requires the content of a page. @throws Error for a page that does not exist */
export function requirePage(page: number, bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new Error(`the state trie has no page ${page}`)
  return bytes
}

/** Opens an empty table in a private temporary file, deleted by `close`, for a trie that may exceed the memory. Its one
 *  transaction is open. */
export function openScratchTrie(): { table: StateTrieTable; close(): void } {
  const db = new SqliteDatabase('')
  keepPlans(db)
  db.pragma('journal_mode = OFF')
  db.pragma('cache_size = -65536') // 64 MiB; negative is KiB
  db.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)')
  db.exec('CREATE TABLE state_trie_pages (id INTEGER PRIMARY KEY, data BLOB NOT NULL)')
  db.exec('BEGIN')
  const rows = createTriePageRows(db)
  const meta = createMetaTable(db)
  const table: StateTrieTable = {
    ...rows,
    read: (page) => requirePage(page, rows.read(page)),
    head: () => meta.get(META_STATE_TRIE),
    setHead: (head) => meta.set(META_STATE_TRIE, head),
    inTransaction: true,
  }
  return { table, close: () => void db.close() }
}
