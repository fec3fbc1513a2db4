import { equalBytes } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { createDataVersion } from '../commitWatch.js'
import type { Database } from '../database.js'
import { createBlockLogs, createPartOfLogs, type LogText, splitLogs } from './blockLogs.js'
import { type BlockRow, decodeBlockRow } from './blockRows.js'
import { createRemovedBlocks, type RemovedBlock, type RemovedBlocks } from './removedBlocks.js'
import type { StoredBlock } from './types.js'

/** A block that came or went, with its logs in order. The logs of an added block are read in parts (`LOG_PART`) as they are
 *  asked for, also after it was removed. The iterator throws ChangesMissed when the rest is unavailable. */
export type BlockChange =
  | { readonly kind: 'added'; readonly block: StoredBlock; readonly logs: Iterable<LogText> }
  | { readonly kind: 'removed'; readonly block: RemovedBlock; readonly logs: Iterable<LogText> }

/** More blocks were removed since the last look than the database keeps: what they were is not known any more. */
export class ChangesMissed extends CairnError {
  constructor() {
    super('more blocks were removed at once than the database keeps')
  }
}

/** Finds out from the database what other connections did to the chain, whoever they are. The changes, applied in order to the
 *  chain that there was at the begin, give the chain that there is. A reorg gives its removed blocks first, the lowest first
 *  (geth's order), then the added ones. Blocks that came and went between two looks are left out. */
export interface ChainFollower {
  /** Begins at the newest block, or goes on from it: what was not told before is left out. */
  start(): void
  /** True when another connection has committed since the last time that `next` found no further change. */
  isStale(): boolean
  /** The next change; undefined when there is none for now. @throws ChangesMissed */
  next(): BlockChange | undefined
  /** Marks what the database holds now, so that a listener gets exactly the changes that are committed from here on, however far
   *  behind the follower is. To be called after `start`. */
  mark(): ChainMark
}

/** A moment in the history of the chain. */
export interface ChainMark {
  /** True for a change that was committed after the mark. To be asked for each change, in order. */
  precedes(change: BlockChange): boolean
}

/** The mark before all changes. */
export const EVERYTHING: ChainMark = { precedes: () => true }

/** A mark that the follower has not reached yet. */
interface OpenMark {
  /** The blocks up to this one were there when the mark was made, and still are. */
  number: number
  readonly lastRemoval: number
}

/** Where a follower is in the chain. */
interface Place {
  number: number
  hash: Uint8Array
}

/** A follower over a connection that only reads; to be started first. */
export function createChainFollower(db: Database): ChainFollower {
  const version = createDataVersion(db)
  const removedBlocks = createRemovedBlocks(db)
  /** Made with the first block: a server without subscribers needs none. */
  let readPart: ReturnType<typeof createPartReader> | undefined
  const selectHead = db.prepare<[], Place>('SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1')
  const selectNext = db.prepare<[number], BlockRow>('SELECT * FROM blocks WHERE number > ? ORDER BY number LIMIT 1')
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
  /** The newest block that was told and not found removed; undefined while there was none. */
  let place: Place | undefined
  let lastRemoval = 0
  /** Told blocks that were removed, and are yet to be told: the highest first. */
  const removed: RemovedBlock[] = []
  let seenVersion: number | undefined
  const openMarks = new Set<OpenMark>()
  /** Given last: it is being told, and may be removed already. */
  let current: BlockChange | undefined

  const findRemoved = () => {
    for (const block of removedBlocks.after(lastRemoval)) {
      lastRemoval = block.id
      for (const mark of openMarks) {
        if (block.id > mark.lastRemoval) mark.number = Math.min(mark.number, block.number - 1)
      }
      if (place === undefined || block.number !== place.number || !equalBytes(block.hash, place.hash)) continue
      removed.push(block)
      place = { number: block.number - 1, hash: block.parentHash }
    }
    if (place === undefined) return
    const canonical = selectHash.get(place.number)
    if (canonical === undefined || !equalBytes(canonical, place.hash)) throw new ChangesMissed()
  }
  const nextRemoved = (): BlockChange => {
    const block = removed[removed.length - 1]
    const text = removedBlocks.logs(block.id)
    if (text === undefined) throw new ChangesMissed()
    removed.pop()
    return { kind: 'removed', block, logs: { [Symbol.iterator]: () => splitLogs(text, { removed: true }) } }
  }
  const nextAdded = (): BlockChange | undefined => {
    const row = selectNext.get(place?.number ?? -1)
    if (row === undefined) return undefined
    const block = decodeBlockRow(row)
    readPart ??= createPartReader(db, removedBlocks)
    const read = readPart
    place = { number: row.number, hash: row.hash }
    return { kind: 'added', block, logs: { [Symbol.iterator]: () => logsInParts(block, read) } }
  }
  const look = db.transaction(() => {
    if (removed.length === 0 && removedBlocks.lastId() !== lastRemoval) findRemoved()
    return removed.length > 0 ? nextRemoved() : nextAdded()
  })
  const start = db.transaction(() => {
    place = selectHead.get()
    lastRemoval = removedBlocks.lastId()
    removed.length = 0
    openMarks.clear()
  })
  const readMark = db.transaction(
    (): OpenMark => ({ number: selectHead.get()?.number ?? -1, lastRemoval: removedBlocks.lastId() }),
  )
  return {
    start,
    isStale: () => version() !== seenVersion,
    next: () => {
      const now = version() // before the look: what is committed meanwhile makes it stale again
      current = look()
      if (current === undefined) {
        seenVersion = now
        openMarks.clear()
      }
      return current
    },
    mark() {
      const mark = readMark()
      const before = current
      openMarks.add(mark)
      return {
        precedes(change) {
          if (change === before) return false
          if (!openMarks.has(mark)) return true
          const { kind, block } = change
          return kind === 'removed' ? block.id > mark.lastRemoval : block.header.number > mark.number
        },
      }
    },
  }
}

/** Reads some logs of a block from the one at `index` on: those of one part, or all that are left when the chain has the block no
 *  more. @throws ChangesMissed */
function createPartReader(db: Database, removedBlocks: RemovedBlocks) {
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
  const logsOf = createBlockLogs(db)
  const partOf = createPartOfLogs(db)
  return db.transaction(({ header: { number }, hash, ...block }: StoredBlock, index: number): LogText[] => {
    const canonical = selectHash.get(number)
    if (canonical !== undefined && equalBytes(canonical, hash)) {
      const rest = { firstLog: block.firstLog + index, logCount: block.logCount - index }
      return [...splitLogs(logsOf({ ...rest, logCount: partOf(rest) }), { removed: false })]
    }
    const text = removedBlocks.logsOfBlock(number, hash)
    if (text === undefined) throw new ChangesMissed()
    return [...splitLogs(text, { removed: false })].slice(index)
  })
}

function* logsInParts(block: StoredBlock, read: ReturnType<typeof createPartReader>): Generator<LogText> {
  for (let index = 0; index < block.logCount; ) {
    const part = read(block, index)
    if (part.length === 0) throw new ChangesMissed()
    yield* part
    index += part.length
  }
}
