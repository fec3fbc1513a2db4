import { createGenerationCache } from '../lib/generationCache.js'
import type { StateTrieTable } from '../store/stateTrieTable.js'
import type { TriePages } from './stateTrie.js'

/** Pages of the database with changes in memory, which can be given up, and a bounded cache of those read. */
export interface PageCache extends TriePages {
  /** What was changed stays: `discard` goes back to here. Too many changes are written to the database, when it is in a
   *  transaction. */
  settle(): void
  /** Gives up what was changed since `settle`. */
  discard(): void
  /** Writes all changes to the database. Only after `settle`, and in a transaction. */
  save(): void
  /** Forgets everything that lies in memory, and goes on with the pages that the database has. */
  reset(nextPage: number): void
  /** The id that no page had yet. */
  readonly nextPage: number
}

// An array of its own, and its entry in a map.
const PAGE_OVERHEAD = 250

/** Pages of the table. At most `maxBytes` of pages are kept that the database has too, and about half as many that it has
 *  not at each `settle` in a transaction. */
export function createPageCache(table: StateTrieTable, maxBytes: number): PageCache {
  const clean = createGenerationCache<number, Uint8Array>({
    maxBytes: maxBytes / 2,
    sizeOf: (_, page) => page.length + PAGE_OVERHEAD,
  })
  /** Differing from the database; null: freed. */
  let dirty = new Map<number, Uint8Array | null>()
  let dirtyBytes = 0
  /** What `dirty` had before the changes since `settle`; undefined: nothing. */
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
    for (const page of [...dirty.keys()].sort((a, b) => a - b)) {
      const bytes = dirty.get(page)!
      if (bytes === null) {
        table.remove(page)
        clean.delete(page)
      } else {
        table.write(page, bytes)
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
    settle: () => {
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

function sizeOf(bytes: Uint8Array | null | undefined): number {
  return bytes === undefined ? 0 : (bytes?.length ?? 0) + PAGE_OVERHEAD
}
