import type { LogIndexer } from '../../src/logs/indexer.js'
import { CHUNK_SIZE } from '../../src/segments/postings.js'
import type { ChainWriter } from '../../src/store/chainWriter.js'
import type { BenchBlock } from './blocks.js'
import { type OrdinaryLogs, ordinaryRows } from './ordinary.js'

/** The chain under way into both stores. */
export interface Loading {
  blocks: Iterator<BenchBlock>
  writer: ChainWriter
  indexer: LogIndexer
  ordinary: OrdinaryLogs
  /** The writer of a third store, which gets the same blocks, transactions and receipts without logs: what they cost. */
  bare: ChainWriter
}

/** How long each store took for the same logs; making them is not counted. */
export interface BulkLoad {
  logs: number
  blocks: number
  /** With blocks, transactions and receipts. */
  cairnMs: number
  /** Of it, for blocks, transactions and receipts, which the ordinary design does not get. */
  bareMs: number
  ordinaryMs: number
}

/** Times of single blocks, in milliseconds. */
export interface TipBlocks {
  cairnMs: number[]
  bareMs: number[]
  ordinaryMs: number[]
}

// As many blocks per transaction in both stores: about 50,000 logs, less than an import's second.
const BATCH_BLOCKS = 200

/** Loads at least `count` logs into both. Merges that are due near the end are left undone, for `loadTip` to meet. */
export function loadBulk(
  loading: Loading,
  count: number,
  report: (done: BulkLoad & { head: BenchBlock }) => void,
): BulkLoad {
  const { writer, indexer, ordinary } = loading
  const load: BulkLoad = { logs: 0, blocks: 0, cairnMs: 0, bareMs: 0, ordinaryMs: 0 }
  const mergeUntil = count - Math.min(count / 2, 9 * CHUNK_SIZE)
  while (load.logs < count) {
    const batch = take(loading, BATCH_BLOCKS, count - load.logs)
    load.cairnMs += time(() => {
      writer.begin()
      for (const made of batch) insertBlock(loading, made)
      if (load.logs < mergeUntil) indexer.work(Number.POSITIVE_INFINITY)
      writer.commit()
    })
    load.bareMs += timeBare(loading, batch)
    const rows = batch.flatMap(ordinaryRows)
    load.ordinaryMs += time(() => ordinary.insert(rows))
    load.logs += rows.length
    load.blocks += batch.length
    report({ ...load, head: batch[batch.length - 1] })
  }
  return load
}

/** Stores `count` blocks in both, each in a transaction of its own; with a budget, the index merges on for so long
 *  between them. @returns also whether a merge was under way to the end. */
export function loadTip(loading: Loading, count: number, mergeBudgetMs?: number): TipBlocks & { merging: boolean } {
  const { writer, indexer, ordinary } = loading
  const times: TipBlocks & { merging: boolean } = {
    cairnMs: [],
    bareMs: [],
    ordinaryMs: [],
    merging: mergeBudgetMs !== undefined,
  }
  for (const made of take(loading, count)) {
    times.cairnMs.push(
      time(() => {
        writer.begin()
        insertBlock(loading, made)
        writer.commit()
      }),
    )
    times.bareMs.push(timeBare(loading, [made]))
    const rows = ordinaryRows(made)
    times.ordinaryMs.push(time(() => ordinary.insert(rows)))
    if (mergeBudgetMs === undefined) continue
    writer.begin()
    times.merging &&= indexer.work(mergeBudgetMs)
    writer.commit()
  }
  return times
}

/** Finishes the merges. @returns the milliseconds that it took, which belong to the bulk load. */
export function finishMerges({ writer, indexer }: Loading): number {
  return time(() => {
    writer.begin()
    indexer.work(Number.POSITIVE_INFINITY)
    writer.commit()
  })
}

function insertBlock({ writer, indexer }: Loading, { block, receipts, logs }: BenchBlock): void {
  writer.insertBlock(block, receipts, 0n)
  indexer.add(logs)
}

/** Milliseconds of one transaction with the blocks as they would be without logs. */
function timeBare({ bare }: Loading, batch: readonly BenchBlock[]): number {
  const stripped = batch.map(({ block, receipts }) => ({
    block,
    receipts: receipts.map((receipt) => ({ ...receipt, logs: [] })),
  }))
  return time(() => {
    bare.begin()
    for (const { block, receipts } of stripped) bare.insertBlock(block, receipts, 0n)
    bare.commit()
  })
}

/** The next blocks, at most `count`, no more than needed for `logs` logs. */
function take({ blocks }: Loading, count: number, logs = Number.POSITIVE_INFINITY): BenchBlock[] {
  const batch: BenchBlock[] = []
  for (let taken = 0; batch.length < count && taken < logs; ) {
    const made: BenchBlock = blocks.next().value
    batch.push(made)
    taken += made.logs.length
  }
  return batch
}

function time(work: () => void): number {
  const started = performance.now()
  work()
  return performance.now() - started
}
