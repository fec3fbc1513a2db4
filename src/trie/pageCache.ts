import { createGenerationCache } from '../lib/generationCache.js'
import type { StateTrieTable } from '../store/state/stateTrieTable.js'
import { packBranch, type TrieBranch } from './nodeRef.js'
import type { TriePages } from './stateTrie.js'

/** Database pages with revertible changes in memory, and a bounded cache of read pages. Changed pages are kept as
 *  branches, because the same ones change with nearly every block, and are encoded when written. */
export interface PageCache extends TriePages {
  /** Makes changes permanent for `discard`. If there are too many, they are written to the database, within its
   *  transaction. */
  settle(): void
  /** Drops changes since `settle`. */
  discard(): void
  /** Writes all changes to the database. Only after `settle`, and in a transaction. */
  save(): void
  /** Drops everything in memory and continues with the pages in the database. */
  reset(nextPage: number): void
  /** The next unused page id. */
  readonly nextPage: number
}

// An array and its map entry.
const PAGE_OVERHEAD = 250
// The same, three arrays of 16, and arrays for a few children.
const BRANCH_OVERHEAD = 1000

/** Pages of the table. Caches at most `maxBytes` of clean pages; each `settle` in a transaction leaves about half as much
 *  of dirty ones. */
export function createPageCache(table: StateTrieTable, maxBytes: number): PageCache {
  const clean = createGenerationCache<number, Uint8Array>({
    maxBytes: maxBytes / 2,
    sizeOf: (_, page) => page.length + PAGE_OVERHEAD,
  })
  /** Pages that differ from the database; null: freed. */
  let dirty = new Map<number, TrieBranch | null>()
  let dirtyBytes = 0
  /** Entries of `dirty` before the changes since `settle`; undefined: none. */
  let before = new Map<number, TrieBranch | null | undefined>()
  let next = 1
  let settledNext = 1

  const put = (page: number, branch: TrieBranch | null | undefined) => {
    dirtyBytes += sizeOf(branch) - sizeOf(dirty.get(page))
    if (branch === undefined) dirty.delete(page)
    else dirty.set(page, branch)
  }
  const change = (page: number, branch: TrieBranch | null) => {
    if (!before.has(page)) before.set(page, dirty.get(page))
    put(page, branch)
  }
  const save = () => {
    for (const page of [...dirty.keys()].sort((a, b) => a - b)) {
      const branch = dirty.get(page)!
      if (branch === null) {
        table.remove(page)
        clean.delete(page)
      } else {
        const bytes = packBranch(branch)
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
      for (const [page, branch] of before) put(page, branch)
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

/** Memory of a changed page: the bytes it was read from, its changed children, and overhead. */
function sizeOf(branch: TrieBranch | null | undefined): number {
  if (!branch) return branch === undefined ? 0 : PAGE_OVERHEAD
  let bytes = branch.bytes.length + BRANCH_OVERHEAD
  for (const slot of branch.own) bytes += slot?.length ?? 0
  return bytes
}
