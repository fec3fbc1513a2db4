import type { Database } from '../../store/database.js'
import type { PackedChanges } from '../../store/rows/packedChanges.js'
import { createStateReader } from '../../store/state/stateReader.js'
import { createStateTrieTable, type StateTrieHead, type StateTrieTable } from '../../store/state/stateTrieTable.js'
import type { RecordedTrieTable } from '../../store/state/trieHistory.js'
import { createChangeNotes } from '../../trie/changeNotes.js'
import { createStateRoot } from '../../trie/stateRoot.js'

/** The changes that turn the stored trie into that of a later block. They are written as they are. */
export interface HashedTrie {
  /** The block of the trie's state. */
  readonly blockNumber: number
  readonly root: Uint8Array // 32
  /** Undefined: no page has changed. */
  readonly head?: StateTrieHead
  /** Pages to write, by id. */
  readonly pages: PackedPages
  /** Pages to remove. */
  readonly removed: Float64Array
}

/** Pages in one buffer, which is transferred to another thread without a copy. */
export interface PackedPages {
  readonly ids: Float64Array
  /** End of each page in `bytes`. */
  readonly ends: Float64Array
  readonly bytes: Uint8Array
}

/** Collects the changes of blocks on top of the stored trie, and hashes them. It only reads the database. */
export interface TrieHasher {
  /** Starts from the stored trie of this block, with no changes. */
  begin(blockNumber: number): void
  /** Adds the changes of the next block. Blocks up to that of the stored trie must be committed.
   *  @returns false, and adds nothing, when the limit is reached @throws StorageOfOtherIncarnation */
  note(blockNumber: number, changes: PackedChanges): boolean
  /** Number of accounts and slots that were added. */
  readonly size: number
  /** Hashes the added changes. Until the result is committed, only `begin` may follow. */
  hash(): HashedTrie
}

// Maximum of accounts, and of slots, that can be added.
const NOTES_ROOM = 2 ** 20

/** Creates a hasher over an open database, with about `cacheBytes` of the trie in memory. */
export function createTrieHasher(db: Database, cacheBytes: number): TrieHasher {
  const reader = createStateReader(db)
  const table = createCollectingTable(createStateTrieTable(db))
  const notes = createChangeNotes(reader, NOTES_ROOM)
  let root: ReturnType<typeof createStateRoot> | undefined
  let noted = -1
  return {
    begin: (blockNumber) => {
      notes.clear()
      table.clear()
      noted = blockNumber
      if (root === undefined) root = createStateRoot(table, cacheBytes)
      else root.reset()
    },
    note: (blockNumber, changes) => {
      if (blockNumber !== noted + 1) throw new Error(`block ${blockNumber} does not follow block ${noted}`)
      if (!notes.note(blockNumber, changes)) return false
      noted = blockNumber
      return true
    },
    get size() {
      return notes.size
    },
    hash: () => {
      table.head() // the commit of the last result has flushed the layers
      const computed = root!.apply(notes.updates())
      notes.clear()
      root!.save()
      return { blockNumber: noted, root: computed, ...table.take() }
    },
  }
}

/** Writes the pages of a hashed trie to the stored one, in a transaction. */
export function storeHashedTrie(table: RecordedTrieTable, { head, pages, removed }: HashedTrie): void {
  const { ids, ends, bytes } = pages
  table.replace(new Set([...removed, ...ids]))
  for (const page of removed) table.remove(page)
  for (let i = 0, start = 0; i < ids.length; start = ends[i++]) table.write(ids[i], bytes.subarray(start, ends[i]))
  if (head) table.setHead(head)
}

/** Wraps the stored trie; collects writes to it instead. */
function createCollectingTable(stored: StateTrieTable) {
  let head: StateTrieHead | undefined
  let written: { page: number; bytes: Uint8Array }[] = []
  let removed: number[] = []
  const clear = () => {
    head = undefined
    written = []
    removed = []
  }
  return {
    ...stored,
    write: (page: number, bytes: Uint8Array) => void written.push({ page, bytes }),
    remove: (page: number) => void removed.push(page),
    setHead: (next: StateTrieHead) => {
      head = next
    },
    inTransaction: false, // `save` alone writes pages, each once
    clear,
    take: () => {
      const taken = { head, pages: packPages(written), removed: Float64Array.from(removed) }
      clear()
      return taken
    },
  }
}

function packPages(written: readonly { page: number; bytes: Uint8Array }[]): PackedPages {
  const ids = new Float64Array(written.length)
  const ends = new Float64Array(written.length)
  const bytes = new Uint8Array(written.reduce((sum, each) => sum + each.bytes.length, 0))
  let at = 0
  for (const [i, each] of written.entries()) {
    ids[i] = each.page
    bytes.set(each.bytes, at)
    at += each.bytes.length
    ends[i] = at
  }
  return { ids, ends, bytes }
}
