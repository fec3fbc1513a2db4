import { bigIntToFixedBytes, bytesToBigInt, EMPTY_BYTES } from '../../lib/bytes.js'
import { formatData, parseHex } from '../../lib/hex.js'
import type { Database } from '../database.js'
import { createStateTrieTable, type StateTrieHead, type StateTrieTable, type TrieBlock } from './stateTrieTable.js'

/** Number of blocks before the head whose state tries are kept: the number for which geth serves proofs. */
export const TRIE_HISTORY_BLOCKS = 128

// First id of pages that only tries before the head have. The trie of the head allocates from 1.
const EARLIER_PAGES = 2 ** 40
// Page id of the reference to the root node among the versions.
const TOP = 0
// Page id of the number of accounts: 8 bytes, big-endian, in two's complement (that of a partial trie may be negative).
const ACCOUNTS = -1
// Id of the empty version of a page that a block created: -2 and below. The function is its own inverse.
const absent = (page: number) => -1 - page

/** Past contents of the pages of the state trie. A version with block number B is the content in the tries of blocks
 *  below B, down to the version before it. Tries of the blocks [from, head] can be read. */
interface TrieHistory {
  /** The earliest block whose trie can be read; `head` itself when there is no history up to it. */
  from(head: number): number
  /** The trie after a block in [from, head], read-only. */
  at(blockNumber: number, head: number): StateTrieTable
  /** True if the page differs between the tries before and after that block. */
  changed(page: number, blockNumber: number): boolean
  /** The pages that a block replaced, and those that it created: they are absent in the trie before. */
  replaced(blockNumber: number): { page: number; isAbsent: boolean }[]
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
  const select = db
    .prepare<[number, number], Uint8Array>(
      'SELECT data FROM trie_page_versions WHERE page_id = ? AND block_number > ? ORDER BY block_number LIMIT 1',
    )
    .pluck()
  const exists = db
    .prepare<[number, number], number>('SELECT 1 FROM trie_page_versions WHERE page_id = ? AND block_number = ?')
    .pluck()
  const selectReplaced = db.prepare<[number], { id: number; length: number }>(
    `SELECT page_id AS id, length(data) AS length FROM trie_page_versions
     WHERE block_number = ? AND page_id NOT IN (${TOP}, ${ACCOUNTS})`,
  )
  const selectAccounts = db
    .prepare<[number], Uint8Array>(
      `SELECT data FROM trie_page_versions WHERE page_id = ${ACCOUNTS} AND block_number = ?`,
    )
    .pluck()
  const insert = db.prepare('INSERT INTO trie_page_versions (page_id, block_number, data) VALUES (?, ?, ?)')
  const at = (blockNumber: number, head: number): StateTrieTable => ({
    ...newest,
    read: (page) => {
      const bytes = blockNumber === head ? undefined : select.get(page, blockNumber)
      return bytes === undefined ? newest.read(page) : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    },
    head: () => {
      const held = newest.head()
      const top = blockNumber === head ? undefined : select.get(TOP, blockNumber)
      return (
        held && { ...held, top: top ? formatData(top) : held.top, nextPage: held.history?.nextPage ?? EARLIER_PAGES }
      )
    },
    inTransaction: false, // changes stay in memory
  })
  return {
    at,
    changed: (page, blockNumber) => exists.get(page, blockNumber) !== undefined,
    replaced: (blockNumber) =>
      selectReplaced
        .all(blockNumber)
        .map(({ id, length }) => ({ page: Math.max(id, absent(id)), isAbsent: id < 0 && length === 0 })),
    accountsBefore: (blockNumber) => {
      const bytes = selectAccounts.get(blockNumber)
      return bytes && decodeCount(bytes)
    },
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

/** The stored trie of the newest block; keeps the pages that a new block replaces. */
export class RecordedTrieTable implements StateTrieTable {
  readonly read: StateTrieTable['read']
  readonly removeFrom: StateTrieTable['removeFrom']
  readonly head: StateTrieTable['head']
  readonly setHead: StateTrieTable['setHead']
  readonly extent: StateTrieTable['extent']
  readonly #db: Database
  readonly #table: StateTrieTable
  readonly #versions: ReturnType<typeof prepareVersions>
  /** The block whose replaced pages are kept. */
  #recording: number | undefined
  /** True while a block may have replaced a page that is replaced again. */
  #isAmending = false
  /** True when pages were replaced without keeping their contents. */
  #lost = false

  /** Creates the recorded table over a writing connection. */
  constructor(db: Database) {
    this.#db = db
    this.#versions = prepareVersions(db)
    this.#table = createStateTrieTable(db)
    const { read, removeFrom, head, setHead, extent } = this.#table
    this.read = read
    this.removeFrom = removeFrom
    this.head = head
    this.setHead = setHead
    this.extent = extent
  }

  get inTransaction(): boolean {
    return this.#table.inTransaction
  }

  write(page: number, bytes: Uint8Array): void {
    this.#replace(page)
    this.#table.write(page, bytes)
  }

  remove(page: number): void {
    this.#replace(page)
    this.#table.remove(page)
  }

  /** Writes the trie as that of `block`. When `isNext`, it is the only block since the last time: the pages that it
   *  replaces are kept, and versions are removed that only tries more than 128 blocks back need. Otherwise the history
   *  ends. */
  recorded(block: TrieBlock, isNext: boolean, save: () => void): void {
    const stored = this.head()
    try {
      if (isNext && !this.#lost && stored !== undefined && !stored.building) this.#record(block, stored, save)
      else if (stored?.block?.hash === block.hash && stored.history?.head === block.number) this.#amend(stored, save)
      else {
        save()
        this.#assignTo(block)
      }
    } finally {
      this.#recording = undefined
      this.#isAmending = false
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
    const { selectOldest, restorePages, removePages, pruneAbove } = this.#versions
    const top = formatData(selectOldest.get(TOP, number)!)
    const accounts = decodeCount(selectOldest.get(ACCOUNTS, number)!)
    restorePages.run(number)
    removePages.run(number) // some of them were changed by later blocks
    pruneAbove.run(number)
    this.setHead({ ...stored, top, accounts, block, history: { ...stored.history!, head: number } })
  }

  /** Call it after a rollback. */
  clear(): void {
    this.#lost = false
  }

  #replace(page: number): void {
    const { keep, keepOther, hasVersion } = this.#versions
    const recording = this.#recording
    if (recording === undefined) this.#lost = true
    else if (this.#isAmending && hasVersion.get(page, absent(page), recording) !== undefined) return
    else if (keep.run(recording, page).changes === 0) keepOther.run(absent(page), recording, EMPTY_BYTES)
  }

  #record(block: TrieBlock, stored: StateTrieHead, save: () => void): void {
    const { number } = block
    const { keepOther, prune } = this.#versions
    const continues = stored.history?.head === number - 1
    if (!continues) clearVersions(this.#db)
    keepOther.run(TOP, number, parseHex(stored.top))
    keepOther.run(ACCOUNTS, number, encodeCount(stored.accounts))
    this.#recording = number
    save()
    const parent = number - 1
    const before = continues ? stored.history! : { from: parent, nextPage: EARLIER_PAGES }
    const { from, nextPage, recorded = parent } = before as NonNullable<StateTrieHead['history']>
    const earliest = number - TRIE_HISTORY_BLOCKS
    prune.run(earliest)
    const history = {
      ...{ head: number, from: Math.max(from, earliest), nextPage },
      recorded: Math.max(recorded, earliest),
    }
    this.setHead({ ...this.head()!, block, history })
  }

  /** Replaces pages of the stored trie by others of the same state, which know more of its nodes: the replaced ones are
   *  kept as those that the block replaced, unless it replaced them, too. */
  #amend(stored: StateTrieHead, save: () => void): void {
    this.#recording = stored.block!.number
    this.#isAmending = true
    save()
    const now = this.head()!
    if (now.block === undefined) this.setHead({ ...now, block: stored.block, history: stored.history })
  }

  /** Assigns the stored trie to a later block with the same state. */
  #assignTo(block: TrieBlock): void {
    const stored = this.head()
    if (stored && !stored.building && stored.block?.hash !== block.hash) this.setHead({ ...stored, block })
  }
}

/** Prepares the statements that keep, restore and remove versions of pages. */
function prepareVersions(db: Database) {
  return {
    keep: db.prepare<[block: number, page: number]>(
      `INSERT INTO trie_page_versions (page_id, block_number, data)
       SELECT id, ?, data FROM state_trie_pages WHERE id = ?`,
    ),
    keepOther: db.prepare('INSERT INTO trie_page_versions (page_id, block_number, data) VALUES (?, ?, ?)'),
    hasVersion: db.prepare<[page: number, absent: number, block: number], number>(
      'SELECT 1 FROM trie_page_versions WHERE page_id IN (?, ?) AND block_number = ? LIMIT 1',
    ),
    prune: db.prepare('DELETE FROM trie_page_versions WHERE block_number <= ?'),
    pruneAbove: db.prepare('DELETE FROM trie_page_versions WHERE block_number > ?'),
    // The inner query is answered by the index alone.
    restorePages: db.prepare<[number]>(
      `INSERT OR REPLACE INTO state_trie_pages (id, data)
       SELECT v.page_id, v.data
       FROM (SELECT page_id, min(block_number) AS block_number FROM trie_page_versions INDEXED BY trie_page_versions_by_page
             WHERE page_id > ${TOP} AND block_number > ? GROUP BY page_id) oldest
       CROSS JOIN trie_page_versions v ON v.page_id = oldest.page_id AND v.block_number = oldest.block_number`,
    ),
    removePages: db.prepare<[number]>(
      `DELETE FROM state_trie_pages WHERE id IN (
         SELECT -1 - page_id FROM trie_page_versions INDEXED BY trie_page_versions_by_page
         WHERE page_id < ${ACCOUNTS} AND block_number > ?)`,
    ),
    selectOldest: db
      .prepare<[number, number], Uint8Array>(
        'SELECT data FROM trie_page_versions WHERE page_id = ? AND block_number > ? ORDER BY block_number LIMIT 1',
      )
      .pluck(),
  }
}

function encodeCount(count: number): Uint8Array {
  return bigIntToFixedBytes(BigInt.asUintN(64, BigInt(count)), 8)
}

function decodeCount(bytes: Uint8Array): number {
  return Number(BigInt.asIntN(64, bytesToBigInt(bytes)))
}

function clearVersions(db: Database): void {
  db.exec('DELETE FROM trie_page_versions')
}
