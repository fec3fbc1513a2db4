import type { Statement } from 'better-sqlite3'
import { equalBytes } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { createDataVersion } from '../commitWatch.js'
import type { Database } from '../database.js'
import { type BlockRow, decodeBlockRow } from './block.js'
import { createStoredLogs } from './log.js'
import { createPartOfLogs } from './logParts.js'
import { createRemovedBlocks, type RemovedBlock, type RemovedBlocks } from './removedBlocks.js'
import type { StoredBlock, StoredLog } from './types.js'

/** An added or removed block, with its logs in order. The logs of an added block are read in parts (`LOG_PART`) on
 *  demand, also after its removal. The iterator throws ChangesMissed when the rest is unavailable. */
export type BlockChange =
  | { readonly kind: 'added'; readonly block: StoredBlock; readonly logs: Iterable<StoredLog> }
  | { readonly kind: 'removed'; readonly block: RemovedBlock; readonly logs: Iterable<StoredLog> }

/** More blocks were removed since the last read than the database keeps: their contents are unknown. */
export class ChangesMissed extends CairnError {
  constructor() {
    super('more blocks were removed at once than the database keeps')
  }
}

/** A moment in the history of the chain. */
export interface ChainMark {
  /** True for a change that was committed after the mark. Call it for each change, in order. */
  precedes(change: BlockChange): boolean
}

/** The mark before all changes. */
export const EVERYTHING: ChainMark = { precedes: () => true }

/** A mark that the follower has not reached yet. */
interface OpenMark {
  /** The blocks up to this one existed when the mark was made, and still do. */
  number: number
  readonly lastRemoval: number
}

/** Where a follower is in the chain. */
interface Place {
  number: number
  hash: Uint8Array
}

/** Detects in the database how other connections, of any process, changed the chain. Applied in order, the changes lead
 *  from the chain at the start to the current one. A reorg returns its removed blocks first, the lowest first (geth's
 *  order), then the added ones. Blocks that were added and removed between two reads are left out. */
export class ChainFollower {
  readonly #db: Database
  readonly #version: () => number
  readonly #removedBlocks: RemovedBlocks
  /** Created with the first block: a server without subscribers needs none. */
  #readPart: ReturnType<typeof createPartReader> | undefined
  readonly #selectHead: Statement<[], Place>
  readonly #selectNext: Statement<[number], BlockRow>
  readonly #selectHash: Statement<[number], Uint8Array>
  readonly #look: () => BlockChange | undefined
  readonly #readMark: () => OpenMark
  /** The newest block that was reported and not found removed; undefined before the first one. */
  #place: Place | undefined
  #lastRemoval = 0
  /** Reported blocks whose removal is not reported yet: the highest first. */
  readonly #removed: RemovedBlock[] = []
  #seenVersion: number | undefined
  readonly #openMarks = new Set<OpenMark>()
  /** The change returned last: it is being reported, and its block may be removed already. */
  #current: BlockChange | undefined

  /** Creates a follower over a connection that only reads. Call `start` first. */
  constructor(db: Database) {
    this.#db = db
    this.#version = createDataVersion(db)
    this.#removedBlocks = createRemovedBlocks(db)
    this.#selectHead = db.prepare('SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1')
    this.#selectNext = db.prepare('SELECT * FROM blocks WHERE number > ? ORDER BY number LIMIT 1')
    this.#selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
    this.#look = db.transaction(() => {
      if (this.#removed.length === 0 && this.#removedBlocks.lastId() !== this.#lastRemoval) this.#findRemoved()
      return this.#removed.length > 0 ? this.#nextRemoved() : this.#nextAdded()
    })
    this.#readMark = db.transaction(() => ({
      number: this.#selectHead.get()?.number ?? -1,
      lastRemoval: this.#removedBlocks.lastId(),
    }))
  }

  /** Starts at the newest block, or resumes from it: changes not reported before are skipped. */
  start(): void {
    this.#db.transaction(() => {
      this.#place = this.#selectHead.get()
      this.#lastRemoval = this.#removedBlocks.lastId()
      this.#removed.length = 0
      this.#openMarks.clear()
    })()
  }

  /** True when another connection has committed since the last time that `next` found no further change. */
  isStale(): boolean {
    return this.#version() !== this.#seenVersion
  }

  /** Returns the next change; undefined when none is left for now. @throws ChangesMissed */
  next(): BlockChange | undefined {
    const now = this.#version() // before the read: a commit in between makes it stale again
    this.#current = this.#look()
    if (this.#current === undefined) {
      this.#seenVersion = now
      this.#openMarks.clear()
    }
    return this.#current
  }

  /** Marks the current state of the database, so that a listener gets exactly the changes committed from here on,
   *  however far behind the follower is. Call it after `start`. */
  mark(): ChainMark {
    const mark = this.#readMark()
    const before = this.#current
    this.#openMarks.add(mark)
    return {
      precedes: (change) => {
        if (change === before) return false
        if (!this.#openMarks.has(mark)) return true
        const { kind, block } = change
        return kind === 'removed' ? block.id > mark.lastRemoval : block.header.number > mark.number
      },
    }
  }

  #findRemoved(): void {
    for (const block of this.#removedBlocks.after(this.#lastRemoval)) {
      this.#lastRemoval = block.id
      for (const mark of this.#openMarks) {
        if (block.id > mark.lastRemoval) mark.number = Math.min(mark.number, block.number - 1)
      }
      const place = this.#place
      if (place === undefined || block.number !== place.number || !equalBytes(block.hash, place.hash)) continue
      this.#removed.push(block)
      this.#place = { number: block.number - 1, hash: block.parentHash }
    }
    if (this.#place === undefined) return
    const canonical = this.#selectHash.get(this.#place.number)
    if (canonical === undefined || !equalBytes(canonical, this.#place.hash)) throw new ChangesMissed()
  }

  #nextRemoved(): BlockChange {
    const block = this.#removed[this.#removed.length - 1]
    const logs = this.#removedBlocks.logs(block)
    if (logs === undefined) throw new ChangesMissed()
    this.#removed.pop()
    return { kind: 'removed', block, logs }
  }

  #nextAdded(): BlockChange | undefined {
    const row = this.#selectNext.get(this.#place?.number ?? -1)
    if (row === undefined) return undefined
    const block = decodeBlockRow(row)
    this.#readPart ??= createPartReader(this.#db, {
      removedBlocks: this.#removedBlocks,
      hashOf: (number) => this.#selectHash.get(number),
    })
    const read = this.#readPart
    this.#place = { number: row.number, hash: row.hash }
    return { kind: 'added', block, logs: { [Symbol.iterator]: () => logsInParts(block, read) } }
  }
}

/** Reads logs of a block from the one at `index` on: one part, or all the rest once the block is off the chain.
 *  @throws ChangesMissed */
function createPartReader(
  db: Database,
  { removedBlocks, hashOf }: { removedBlocks: RemovedBlocks; hashOf(number: number): Uint8Array | undefined },
) {
  const readLogs = createStoredLogs(db)
  const partOf = createPartOfLogs(db)
  return db.transaction(({ header: { number }, hash, ...block }: StoredBlock, index: number): StoredLog[] => {
    const canonical = hashOf(number)
    if (canonical !== undefined && equalBytes(canonical, hash)) {
      const firstLog = block.firstLog + index
      const length = partOf({ firstLog, logCount: block.logCount - index })
      return readLogs(Array.from({ length }, (_, i) => firstLog + i))
    }
    const logs = removedBlocks.logsOfBlock({ number, hash })
    if (logs === undefined) throw new ChangesMissed()
    return logs.slice(index)
  })
}

function* logsInParts(block: StoredBlock, read: ReturnType<typeof createPartReader>): Generator<StoredLog> {
  for (let index = 0; index < block.logCount; ) {
    const part = read(block, index)
    if (part.length === 0) throw new ChangesMissed()
    yield* part
    index += part.length
  }
}
