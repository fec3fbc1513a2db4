import type { Database } from '../database.js'

/** The rows of `state_trie_pages`. */
export interface TriePageRows {
  /** Undefined for a page that does not exist. */
  read(page: number): Uint8Array | undefined
  write(page: number, bytes: Uint8Array): void
  remove(page: number): void
  /** Removes all pages with ids from `page` on. */
  removeFrom(page: number): void
  /** Number of pages and largest page id; 0 when the table is empty. */
  extent(): { count: number; lastId: number }
}

/** Accesses the rows of an open database. Writes need a writing connection. */
export function createTriePageRows(db: Database): TriePageRows {
  const select = db.prepare<[number], Uint8Array>('SELECT data FROM state_trie_pages WHERE id = ?').pluck()
  const upsert = db.prepare('INSERT OR REPLACE INTO state_trie_pages (id, data) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM state_trie_pages WHERE id = ?')
  const removeFrom = db.prepare('DELETE FROM state_trie_pages WHERE id >= ?')
  // SQLite frees the pages of a whole table without reading them.
  const removeAll = db.prepare('DELETE FROM state_trie_pages')
  const extent = db.prepare<[], { count: number; lastId: number }>(
    'SELECT count(*) AS count, ifnull(max(id), 0) AS lastId FROM state_trie_pages',
  )
  return {
    read: (page) => {
      const bytes = select.get(page)
      // Creating a view of a plain array takes half of the time.
      return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    },
    write: (page, bytes) => void upsert.run(page, bytes),
    remove: (page) => void remove.run(page),
    removeFrom: (page) => void (page <= 1 ? removeAll.run() : removeFrom.run(page)),
    extent: () => extent.get()!,
  }
}
