import { createGenerationCache } from '../lib/generationCache.js'
import type { StateTrieTable } from '../store/state/stateTrieTable.js'
import type { TriePages } from './trieWriter.js'

/** Database pages with revertible changes in memory, and a bounded cache of read pages. */
export interface PageCache extends TriePages {
  /** Makes changes permanent: `discard` keeps them. Writes them to the database, within its transaction, if there are
   *  too many. */
  commit(): void
  /** Drops changes since `commit`. */
  discard(): void
  /** Writes all changes to the database. Only after `commit`, and in a transaction. */
  save(): void
  /** Drops everything in memory and continues with the pages in the database. */
  reset(nextPage: number): void
  /** The next unused page id. */
  readonly nextPage: number
}

// An array and its map entry.
const PAGE_OVERHEAD = 250

/** Creates a cache over the pages of the table. Caches at most `maxBytes` of clean pages; each `commit` in a
 *  transaction leaves about half as much of dirty ones. */
export function createPageCache(table: StateTrieTable, maxBytes: number): PageCache {
  const clean = createGenerationCache<number, Uint8Array>({
    maxBytes: maxBytes / 2,
    sizeOf: (_, page) => page.length + PAGE_OVERHEAD,
  })
  /** Pages that differ from the database; null: freed. */
  let dirty = new Map<number, Uint8Array | null>()
  let dirtyBytes = 0
  /** Entries of `dirty` before the changes since `commit`; undefined: none. */
  let before = new Map<number, Uint8Array | null | undefined>()
  let next = 1
  let settledNext = 1

  const put = (page: number, bytes: Uint8Array | null | undefined) => {
    dirtyBytes += sizeOf(bytes) - sizeOf(dirty.get(page))
    if (bytes === undefined) dirty.delete(page)
    else dirty.set(page, bytes)
  }
  const change = (page: number, bytes: Uint8Array | null) => {
    if (!before.has(page)) before.set(page, dirty.get(page))
    put(page, bytes)
  }
  const save = () => {
    for (const page of Float64Array.from(dirty.keys()).sort()) {
      const bytes = dirty.get(page)!
      if (bytes === null) {
        table.remove(page)
        clean.delete(page)
      } else {
        table.write(page, bytes, clean.get(page))
        clean.set(page, bytes)
      }
    }
    dirty = new Map()
    dirtyBytes = 0
  }
  return {
    read: (page) => {
      const held = dirty.get(page) ?? clean.get(page)
      if (held !== undefined) return held
      const bytes = table.read(page)
      clean.set(page, bytes)
      return bytes
    },
    write: change,
    allocate: () => next++,
    free: (page) => change(page, null),
    commit: () => {
      before = new Map()
      settledNext = next
      if (dirtyBytes > maxBytes / 2 && table.inTransaction) save()
    },
    discard: () => {
      for (const [page, bytes] of before) put(page, bytes)
      before = new Map()
      next = settledNext
    },
    save,
    reset: (nextPage) => {
      clean.clear()
      dirty = new Map()
      dirtyBytes = 0
      before = new Map()
      next = nextPage
      settledNext = nextPage
    },
    get nextPage() {
      return next
    },
  }
}

/** Memory of a changed page. */
function sizeOf(bytes: Uint8Array | null | undefined): number {
  return bytes === undefined ? 0 : (bytes?.length ?? 0) + PAGE_OVERHEAD
}
