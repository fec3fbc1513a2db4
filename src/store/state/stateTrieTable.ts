import SqliteDatabase from 'better-sqlite3'
import type { Database } from '../database.js'
import { keepPlans } from '../keepPlans.js'
import { createMetaTable, META_STATE_TRIE } from '../meta.js'

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
  write(page: number, bytes: Uint8Array): void
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

/** Accesses the table of an open database. Writes need a writing connection. */
export function createStateTrieTable(db: Database): StateTrieTable {
  const select = db.prepare<[number], Uint8Array>('SELECT data FROM state_trie_pages WHERE id = ?').pluck()
  const upsert = db.prepare('INSERT OR REPLACE INTO state_trie_pages (id, data) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM state_trie_pages WHERE id = ?')
  const removeFrom = db.prepare('DELETE FROM state_trie_pages WHERE id >= ?')
  // SQLite frees the pages of a whole table without reading them.
  const removeAll = db.prepare('DELETE FROM state_trie_pages')
  const extent = db.prepare<[], { count: number; lastId: number }>(
    'SELECT count(*) AS count, ifnull(max(id), 0) AS lastId FROM state_trie_pages',
  )
  const meta = createMetaTable(db)
  return {
    read: (page) => {
      const bytes = select.get(page)
      if (bytes === undefined) throw new Error(`the state trie has no page ${page}`)
      // Creating a view of a plain array takes half of the time.
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    },
    write: (page, bytes) => void upsert.run(page, bytes),
    remove: (page) => void remove.run(page),
    removeFrom: (page) => void (page <= 1 ? removeAll.run() : removeFrom.run(page)),
    head: () => meta.get(META_STATE_TRIE),
    setHead: (head) => meta.set(META_STATE_TRIE, head),
    extent: () => extent.get()!,
    get inTransaction() {
      return db.inTransaction
    },
  }
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
  return { table: createStateTrieTable(db), close: () => void db.close() }
}
