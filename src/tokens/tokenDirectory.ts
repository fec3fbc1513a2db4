import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_TOPIC } from '../chain/eth/transferTopics.js'
import { equalBytes } from '../lib/bytes.js'
import type { Deadline } from '../lib/deadline.js'
import type { CommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createValueReader } from '../store/dictionary.js'
import { createLogAddresses, type LogAddresses } from '../store/rows/logAddresses.js'
import { createLogRanges } from '../store/rows/logRanges.js'

/** What a contract calls itself; null where it does not answer. */
export interface TokenWords {
  readonly name: string | null
  readonly symbol: string | null
}

/** A contract whose words match a text. */
export interface FoundToken {
  readonly token: Uint8Array // 20
  /** 0: its name or symbol is the text; 1: begins with it; 2: contains it. */
  readonly rank: 0 | 1 | 2
}

/** The bounds of a directory. */
export interface DirectoryBounds {
  /** Contracts that are kept. */
  readonly maxTokens: number
  /** Logs that are read between two looks at the clock. */
  readonly windowLogs: number
  /** Blocks below the head whose logs are read again with each search: they may be replaced. */
  readonly recentBlocks: number
}

const BOUNDS: DirectoryBounds = { maxTokens: 50_000, windowLogs: 65_536, recentBlocks: 64 }
/** A longer word matches by its beginning. */
const MAX_KEY = 80

interface Entry {
  readonly token: Uint8Array
  /** Name and symbol in lower case; undefined until they are read. */
  words?: readonly string[]
}

/** The contracts with logs of token transfers and what they call themselves, in memory. It grows by what each search
 *  has time for, from the first block on, so a search may be incomplete. One per connection. */
export class TokenDirectory {
  readonly #bounds: DirectoryBounds
  readonly #watch: CommitWatch
  readonly #ranges: ReturnType<typeof createLogRanges>
  readonly #logs: LogAddresses
  readonly #addressOf: (id: number) => Uint8Array
  readonly #entries = new Map<number, Entry>()
  /** Entries whose words are not read yet. */
  #unread: Entry[] = []
  /** Logs below it are read; `mark` is a block above them that was canonical then. */
  #scanned = 0
  #mark: { readonly number: number; readonly hash: Uint8Array } | undefined

  /** `bounds`: others are for tests. */
  constructor(db: Database, { watch, bounds = BOUNDS }: { watch: CommitWatch; bounds?: DirectoryBounds }) {
    this.#bounds = bounds
    this.#watch = watch
    this.#ranges = createLogRanges(db, watch)
    this.#logs = createLogAddresses(db, [TRANSFER_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC])
    this.#addressOf = createValueReader(db, 'addresses')
  }

  /** Number of contracts that are known. */
  get size(): number {
    return this.#entries.size
  }

  /** Returns the contracts whose name or symbol has the text, in any case, best first, and whether all contracts were
   *  looked at. `read` asks a contract for its words, undefined if they are not known; they are kept, so a contract
   *  that changed them since is found by its former ones. */
  search(
    text: string,
    { read, sliceEnds }: { read(token: Uint8Array): TokenWords | undefined; sliceEnds: Deadline },
  ): { found: FoundToken[]; isComplete: boolean } {
    const isScanned = this.#scan(sliceEnds)
    const areRead = this.#readWords(read, sliceEnds)
    const wanted = text.toLowerCase()
    const found: FoundToken[] = []
    for (const { token, words = [] } of this.#entries.values()) {
      const ranks = words.flatMap((word) => rankOf(word, wanted) ?? [])
      if (ranks.length > 0) found.push({ token, rank: Math.min(...ranks) as FoundToken['rank'] })
    }
    return { found: found.sort((a, b) => a.rank - b.rank), isComplete: isScanned && areRead }
  }

  /** Reads logs up to the head. Returns false if there was no time for all of them, or no space. */
  #scan(sliceEnds: Deadline): boolean {
    return this.#watch.withSnapshot(
      () => {
        this.#watch.beforeRead()
        const coverage = this.#ranges.coverage()
        if (coverage === undefined) return true
        if (this.#mark !== undefined && !this.#isCanonical(this.#mark)) this.#scanned = 0
        const stable = Math.max(coverage.first, coverage.head - this.#bounds.recentBlocks)
        const { to: stableTo } = this.#ranges.idsOf(coverage.first, stable)!
        this.#mark = { number: stable, hash: this.#logs.blockHash(stable)! }
        for (; this.#scanned < stableTo; ) {
          if (this.#isFull() || sliceEnds.remainingMs() <= 0) return false
          const to = Math.min(this.#scanned + this.#bounds.windowLogs, stableTo)
          this.#add({ from: this.#scanned, to })
          this.#scanned = to
        }
        this.#add({ from: stableTo, to: this.#ranges.logCount() })
        return !this.#isFull()
      },
      { reads: true },
    )
  }

  #isCanonical({ number, hash }: { readonly number: number; readonly hash: Uint8Array }): boolean {
    const now = this.#logs.blockHash(number)
    return now !== undefined && equalBytes(now, hash)
  }

  #isFull(): boolean {
    return this.#entries.size >= this.#bounds.maxTokens
  }

  #add(range: { readonly from: number; readonly to: number }): void {
    for (const id of this.#logs.idsIn(range)) {
      if (this.#isFull()) return
      if (this.#entries.has(id)) continue
      const entry: Entry = { token: this.#addressOf(id) }
      this.#entries.set(id, entry)
      this.#unread.push(entry)
    }
  }

  /** Returns false if there was no time for all. */
  #readWords(read: (token: Uint8Array) => TokenWords | undefined, sliceEnds: Deadline): boolean {
    const unknown: Entry[] = []
    let done = 0
    try {
      for (const entry of this.#unread) {
        // At least one, so that the next search is further.
        if (done > 0 && sliceEnds.remainingMs() <= 0) return false
        const words = read(entry.token)
        done++
        if (words === undefined) unknown.push(entry)
        else entry.words = [words.name, words.symbol].flatMap((word) => keyOf(word) ?? [])
      }
    } finally {
      this.#unread = [...this.#unread.slice(done), ...unknown]
    }
    return true
  }
}

function keyOf(word: string | null): string | undefined {
  return word ? word.toLowerCase().slice(0, MAX_KEY) : undefined
}

function rankOf(word: string, wanted: string): FoundToken['rank'] | undefined {
  if (word === wanted) return 0
  if (word.startsWith(wanted)) return 1
  return word.includes(wanted) ? 2 : undefined
}

/** Returns true if the name or symbol has the text, in any case. */
export function hasWord({ name, symbol }: TokenWords, text: string): boolean {
  const wanted = text.toLowerCase()
  return [name, symbol].some((word) => word?.toLowerCase().includes(wanted))
}
