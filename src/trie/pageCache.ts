import { createGenerationCache } from '../lib/generationCache.js'
import type { StateTrieTable } from '../store/state/stateTrieTable.js'
import { packBranch, type TrieBranch } from './nodeRef.js'
import type { TriePages } from './stateTrie.js'

/** Pages of the database with changes in memory, which can be given up, and a bounded cache of those read. What was changed
 *  lies as branches, since the same pages change with nearly every block, and is packed when it is written. */
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
// The same, three arrays of 16, and arrays for a few of the children.
const BRANCH_OVERHEAD = 1000

/** Pages of the table. At most `maxBytes` of pages are kept that the database has too, and about half as many that it has
 *  not at each `settle` in a transaction. */
export function createPageCache(table: StateTrieTable, maxBytes: number): PageCache {
  const clean = createGenerationCache<number, Uint8Array>({
    maxBytes: maxBytes / 2,
    sizeOf: (_, page) => page.length + PAGE_OVERHEAD,
  })
  /** Differing from the database; null: freed. */
  let dirty = new Map<number, TrieBranch | null>()
  let dirtyBytes = 0
  /** What `dirty` had before the changes since `settle`; undefined: nothing. */
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

/** What a changed page takes: the bytes that it was read from, children of its own, and what holds them. */
function sizeOf(branch: TrieBranch | null | undefined): number {
  if (!branch) return branch === undefined ? 0 : PAGE_OVERHEAD
  let bytes = branch.bytes.length + BRANCH_OVERHEAD
  for (const slot of branch.own) bytes += slot?.length ?? 0
  return bytes
}
