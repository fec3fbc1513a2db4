import { equalBytes } from '../../lib/bytes.js'
import { formatData, parseHex } from '../../lib/hex.js'
import type { Database } from '../database.js'
import { beginWriting, commitWriting, rollbackWriting } from '../writeTransaction.js'
import {
  createStateTrieTable,
  requirePage,
  type StateTrieHead,
  type StateTrieTable,
  type TrieBlock,
} from './stateTrieTable.js'
import { type PageChange, TrieLayers } from './trieLayers.js'

/** Number of blocks before the head whose state tries are kept: the number for which geth serves proofs. */
export const TRIE_HISTORY_BLOCKS = 128

// First id of pages that only tries before the head have. The trie of the head allocates from 1.
const EARLIER_PAGES = 2 ** 40
// Page id of the reference to the root node among the versions.
const TOP = 0
// Maximum number of blocks of one layer. More blocks than that change most pages more than once, and are written to the
// pages themselves.
const MOST_BLOCKS_IN_LAYER = 64
// Parts of a flush with each block, where no time was left for it before: a flush of a large trie takes minutes.
const OVERDUE_FLUSHES = 8

/** Tries of the blocks [from, head]. Those of blocks that came one by one are read from layers (trieLayers.ts). Earlier
 *  ones are made down from there, as versions of pages: one with block number B is the content in the tries of blocks
 *  below B, down to the version before it. */
interface TrieHistory {
  /** The earliest block whose trie can be read; `head` itself when there is no history up to it. */
  from(head: number): number
  /** Names how the trie of a block is stored. One of `at` can be read as long as that is the same and the block is at
   *  least `from`. A partial trie may change all the same. */
  edition(blockNumber: number): string
  /** The trie after a block in [from, head], read-only. */
  at(blockNumber: number, head: number): StateTrieTable
  /** The pages that differ between the tries before and after a block; `isAbsent`: the one before does not have it. */
  changed(blockNumber: number): Map<number, { isAbsent: boolean }>
  /** The table that says what a block changed. */
  tableOf(blockNumber: number): 'trie_layers' | 'trie_page_versions'
  /** Number of accounts in the trie before that block; undefined where it was not recorded. */
  accountsBefore(blockNumber: number): number | undefined
  /** Starts with the head alone unless the history reaches it. Call it in a transaction. */
  begin(head: number): void
  /** The trie of block `from`. Writes turn it into the trie of the block before; `done` makes that block `from`. */
  before(from: number): StateTrieTable & { done(): void }
}

/** Accesses the history of an open database. `begin` and `before` need a writing connection. */
export function createTrieHistory(db: Database): TrieHistory {
  const newest = createStateTrieTable(db)
  const layers = TrieLayers.of(db)
  const select = db
    .prepare<[number, number], Uint8Array>(
      'SELECT data FROM trie_page_versions WHERE page_id = ? AND block_number > ? ORDER BY block_number LIMIT 1',
    )
    .pluck()
  const anyAbove = db
    .prepare<[number], number>('SELECT 1 FROM trie_page_versions WHERE block_number > ? LIMIT 1')
    .pluck()
  const selectChanged = db
    .prepare<[number], number>(`SELECT page_id FROM trie_page_versions WHERE block_number = ? AND page_id <> ${TOP}`)
    .pluck()
  const insert = db.prepare('INSERT INTO trie_page_versions (page_id, block_number, data) VALUES (?, ?, ?)')
  const removeUpTo = db.prepare('DELETE FROM trie_page_versions WHERE block_number <= ?')
  const at = (blockNumber: number, head: number): StateTrieTable => {
    layers.refresh()
    const hasVersions = anyAbove.get(blockNumber) !== undefined && blockNumber < head
    return {
      ...newest,
      read: (page) => {
        const bytes = hasVersions ? select.get(page, blockNumber) : undefined
        if (bytes !== undefined) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
        return requirePage(page, layers.read(page, blockNumber))
      },
      head: () => {
        const held = newest.head()
        const version = hasVersions ? select.get(TOP, blockNumber) : undefined
        const top = version ?? (blockNumber === head ? undefined : layers.topBefore(blockNumber)?.top)
        return (
          held && { ...held, top: top ? formatData(top) : held.top, nextPage: held.history?.nextPage ?? EARLIER_PAGES }
        )
      },
      inTransaction: false, // changes stay in memory
    }
  }
  return {
    at,
    edition: (blockNumber) => {
      layers.refresh()
      return `${layers.edition} ${layers.layers.findLast(({ block }) => block <= blockNumber)?.id ?? ''}`
    },
    changed: (blockNumber) => {
      const pages = new Map(selectChanged.all(blockNumber).map((page) => [page, { isAbsent: false }]))
      for (const page of layers.pagesOf(blockNumber)) {
        const before = layers.read(page, blockNumber - 1)
        const after = layers.read(page, blockNumber)
        // Version 0.2 wrote contents that had not changed, too, after many patches.
        if (before && after && equalBytes(before, after)) continue
        pages.set(page, { isAbsent: before === undefined })
      }
      return pages
    },
    tableOf: (blockNumber) => (anyAbove.get(blockNumber - 1) === undefined ? 'trie_layers' : 'trie_page_versions'),
    accountsBefore: (blockNumber) =>
      layers.layers.some(({ block }) => block === blockNumber)
        ? layers.topBefore(blockNumber - 1)!.accounts
        : undefined,
    from: (head) => {
      const history = newest.head()?.history
      return history?.head === head ? history.from : head
    },
    begin: (head) => {
      const held = newest.head()
      if (held === undefined || held.history?.head === head) return
      clearVersions(db)
      newest.setHead({ ...held, history: { head, from: head, nextPage: EARLIER_PAGES } })
    },
    before: (from) => {
      // `from` rises with the head, and these stay until then. A reorg to an earlier head makes some of them again.
      removeUpTo.run(from)
      const held = newest.head()!
      const history = { ...held.history!, from: from - 1 }
      return {
        ...at(from, history.head),
        write: (page, bytes) => void insert.run(page, from, bytes),
        remove: () => {},
        setHead: ({ top, nextPage }) => {
          insert.run(TOP, from, parseHex(top))
          history.nextPage = nextPage
        },
        done: () => newest.setHead({ ...held, history }),
      }
    },
  }
}

/** The stored trie of the newest block; blocks that come one by one are stored as layers. */
export class RecordedTrieTable implements StateTrieTable {
  readonly removeFrom: StateTrieTable['removeFrom']
  readonly head: StateTrieTable['head']
  readonly setHead: StateTrieTable['setHead']
  readonly extent: StateTrieTable['extent']
  readonly #db: Database
  readonly #table: StateTrieTable
  readonly #layers: TrieLayers
  /** The changes of the block that is being recorded. */
  #changes: Map<number, PageChange> | undefined
  /** True when pages were replaced without keeping their contents. */
  #lost = false

  /** Creates the recorded table over a writing connection. */
  constructor(db: Database) {
    this.#db = db
    this.#layers = TrieLayers.of(db)
    this.#table = createStateTrieTable(db)
    const { removeFrom, head, setHead, extent } = this.#table
    this.removeFrom = removeFrom
    this.head = head
    this.setHead = setHead
    this.extent = extent
  }

  get inTransaction(): boolean {
    return this.#table.inTransaction
  }

  read(page: number): Uint8Array {
    return this.#changes?.get(page)?.content ?? requirePage(page, this.#layers.read(page))
  }

  write(page: number, bytes: Uint8Array, before?: Uint8Array): void {
    if (this.#changes) this.#changes.set(page, { content: bytes, before })
    else {
      this.#lost = true
      this.#table.write(page, bytes)
    }
  }

  remove(page: number): void {
    if (this.#changes) this.#changes.set(page, { content: undefined })
    else {
      this.#lost = true
      this.#table.remove(page)
    }
  }

  /** Call it before these pages, and no others, are written or removed, while `save` runs: what layers have of them is
   *  not written first. */
  replace(pages: ReadonlySet<number>): void {
    if (this.#changes === undefined && pages.size > 0) this.#layers.flushAll(pages)
  }

  /** Writes the trie as that of `block`. When `isNext`, it is the only block since the last time: the trie before it
   *  can be read, for 128 blocks. Otherwise the history ends. */
  recorded(block: TrieBlock, isNext: boolean, save: () => void): void {
    const stored = this.head()
    try {
      const known = this.#lost || stored === undefined || stored.building ? undefined : stored
      if (known && isNext) this.#recordNext(block, known, save)
      else if (known?.block?.hash === block.hash && known.history?.head === block.number) {
        this.#amend(block, known, save)
      } else if (known && this.#isLayer(block, known)) this.#recordSome(block, known, save)
      else {
        save()
        this.#assignTo(block)
      }
    } finally {
      this.#changes = undefined
      this.#lost = false
    }
  }

  /** The earliest block to which `unwind` can go; undefined where nothing was recorded up to the stored trie. */
  recordedFrom(): number | undefined {
    const stored = this.head()
    const history = stored?.history
    return history !== undefined && history.head === stored?.block?.number ? history.recorded : undefined
  }

  /** Unwinds the stored trie to `block`, at least block `recordedFrom`. Save the trie's changes in memory before, and
   *  drop them after. The stored `root` is left for the caller to compute.
   *  @throws Error when the block is earlier */
  unwind(block: TrieBlock): void {
    const stored = this.head()
    const first = this.recordedFrom()
    if (stored === undefined || first === undefined || block.number < first) {
      throw new Error(`the state trie cannot be set back to block ${block.number}`)
    }
    const { number } = block
    if (number >= stored.history!.head) return
    const before = this.#layers.topBefore(number)
    const changed = before && { top: formatData(before.top), accounts: before.accounts }
    this.#layers.removeAbove(number)
    this.setHead({ ...stored, ...changed, block, history: { ...stored.history!, head: number } })
  }

  /** Call it after a rollback. */
  clear(): void {
    this.#lost = false
    this.#layers.reload()
  }

  #recordNext(block: TrieBlock, stored: StateTrieHead, save: () => void): void {
    const { number } = block
    const continues = stored.history?.head === number - 1
    if (!continues) clearVersions(this.#db)
    this.#append(number, stored, save)
    const parent = number - 1
    const before = continues ? stored.history! : { from: parent, nextPage: EARLIER_PAGES }
    const { from, nextPage, recorded = parent } = before as NonNullable<StateTrieHead['history']>
    const earliest = number - TRIE_HISTORY_BLOCKS
    const history = {
      ...{ head: number, from: Math.max(from, earliest), nextPage },
      recorded: Math.max(recorded, earliest),
    }
    this.setHead({ ...this.head()!, block, history })
    for (let i = 0; i < OVERDUE_FLUSHES && flushSome(this.#db, this.#table, 2); i++);
  }

  /** True if blocks that were stored together are worth a layer. */
  #isLayer({ number }: TrieBlock, { history }: StateTrieHead): boolean {
    const blocks = number - (history?.head ?? -Infinity)
    return this.#layers.layers.length > 0 && blocks > 0 && blocks <= MOST_BLOCKS_IN_LAYER
  }

  /** Adds a layer of several blocks. The tries before it are not kept. */
  #recordSome(block: TrieBlock, stored: StateTrieHead, save: () => void): void {
    const { number } = block
    clearVersions(this.#db)
    this.#append(stored.history!.head + 1, stored, save)
    this.setHead({ ...this.head()!, block, history: { head: number, from: number, nextPage: EARLIER_PAGES } })
  }

  /** Replaces pages of the stored trie by others of the same state, which know more of its nodes. */
  #amend({ number }: TrieBlock, stored: StateTrieHead, save: () => void): void {
    this.#append(number, stored, save)
    const now = this.head()!
    if (now.block === undefined) this.setHead({ ...now, block: stored.block, history: stored.history })
  }

  /** Adds what `save` writes as a layer that counts from a block on. */
  #append(from: number, before: StateTrieHead, save: () => void): void {
    const newest = this.#layers.layers.at(-1)
    if (newest !== undefined && newest.block > from) this.#layers.flushAll() // those of removed blocks
    const changes = new Map<number, PageChange>()
    this.#changes = changes
    save()
    this.#changes = undefined
    const { top, accounts } = before
    const after = this.head()!
    if (changes.size === 0 && after.top === top && after.accounts === accounts) return
    this.#layers.append(from, { top: parseHex(top), accounts }, changes)
  }

  /** Assigns the stored trie to a later block with the same state. */
  #assignTo(block: TrieBlock): void {
    const stored = this.head()
    if (stored && !stored.building && stored.block?.hash !== block.hash) this.setHead({ ...stored, block })
  }
}

/** For a writing connection outside of transactions: a function that writes some of the layers that only tries of more
 *  than 128 blocks before the head need to the pages, in one transaction of some milliseconds, and returns false when
 *  too little is left to write. */
export function createTrieFlush(db: Database): () => boolean {
  const table = createStateTrieTable(db)
  return () => {
    if (TrieLayers.of(db).due(TRIE_HISTORY_BLOCKS) === undefined) return false
    beginWriting(db)
    try {
      flushSome(db, table)
      commitWriting(db)
    } catch (error) {
      rollbackWriting(db)
      TrieLayers.of(db).reload()
      throw error
    }
    return true
  }
}

/** Flushes a part of what is due, within the caller's transaction. @returns true when there is more */
function flushSome(db: Database, table: StateTrieTable, times = 1): boolean {
  const layers = TrieLayers.of(db)
  const block = layers.due(TRIE_HISTORY_BLOCKS, times)
  const held = table.head()
  if (block === undefined || held === undefined) return false
  const { history } = held
  if (history && history.from < block) {
    const { recorded = block } = history
    table.setHead({ ...held, history: { ...history, from: block, recorded: Math.max(recorded, block) } })
  }
  db.prepare('DELETE FROM trie_page_versions WHERE block_number <= ?').run(block)
  return layers.flushSome(block)
}

function clearVersions(db: Database): void {
  db.exec('DELETE FROM trie_page_versions')
  TrieLayers.of(db).beginEdition()
}
