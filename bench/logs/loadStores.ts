import { CHUNK_SIZE } from '../../src/index/segments/postings.js'
import type { Checkpoints } from '../../src/store/checkpoints.js'
import type { ChainHead } from '../../src/sync/head/chainHead.js'
import type { BenchBlock } from '../../test/support/chains/logBlocks.js'
import type { LogStore } from './store.js'

/** A database of ours as an import writes it. */
export interface CairnStore {
  head: ChainHead
  checkpoints: Checkpoints
}

/** The chain under way into all stores. */
export interface Loading {
  blocks: Iterator<BenchBlock>
  cairn: CairnStore
  /** Another one, which gets the same blocks, transactions and receipts without logs: what they cost. */
  bare: CairnStore
  others: readonly LogStore[]
}

/** How long each store took for the same logs; making them is not counted. */
export interface BulkLoad {
  logs: number
  blocks: number
  /** With blocks, transactions and receipts. */
  cairnMs: number
  /** Of it, for blocks, transactions and receipts, which the others do not get. */
  bareMs: number
  othersMs: { [store: string]: number }
}

/** Times of single blocks, in milliseconds. */
export interface TipBlocks {
  cairnMs: number[]
  /** After the commit of each: work on the index. */
  afterMs: number[]
  bareMs: number[]
  othersMs: { [store: string]: number[] }
  /** Whether a merge was under way to the end. */
  merging: boolean
}

// As many blocks per transaction in all stores: about 50,000 logs, less than an import's second.
const BATCH_BLOCKS = 200

/** Loads at least `count` logs into all. Merges that are due near the end are left undone, for `loadTip` to meet. */
export async function loadBulk(loading: Loading, count: number, report: (done: BulkLoad) => void): Promise<BulkLoad> {
  const { cairn, bare, others } = loading
  const zero = Object.fromEntries(others.map(({ name }) => [name, 0]))
  const load: BulkLoad = { logs: 0, blocks: 0, cairnMs: 0, bareMs: 0, othersMs: zero }
  const mergeUntil = count - Math.min(count / 2, 9 * CHUNK_SIZE)
  while (load.logs < count) {
    const batch = take(loading, BATCH_BLOCKS, count - load.logs)
    load.cairnMs += await timeBlocks(cairn, batch, { merge: load.logs < mergeUntil })
    load.bareMs += await timeBlocks(bare, batch.map(withoutLogs), { merge: true })
    for (const other of others) load.othersMs[other.name] += await timeStore(other, batch)
    load.logs += batch.reduce((sum, { logs }) => sum + logs.length, 0)
    load.blocks += batch.length
    report(load)
  }
  return load
}

/** Stores `count` blocks in all, each in a transaction of its own and made just before, as an import has just decoded
 *  it. What ours does after the commit, until the next block comes, is measured by itself: indexing continues for
 *  `indexBudgetMs`. */
export async function loadTip(loading: Loading, count: number, indexBudgetMs: number): Promise<TipBlocks> {
  const { cairn, bare, others } = loading
  const othersMs = Object.fromEntries(others.map(({ name }) => [name, [] as number[]]))
  const times: TipBlocks = { cairnMs: [], afterMs: [], bareMs: [], othersMs, merging: true }
  for (let i = 0; i < count; i++) {
    const [made] = take(loading, 1)
    const tip = await timeTip(cairn, made, indexBudgetMs)
    times.cairnMs.push(tip.ms)
    times.afterMs.push(tip.afterMs)
    times.merging &&= tip.busy
    times.bareMs.push((await timeTip(bare, withoutLogs(made), indexBudgetMs)).ms)
    for (const other of others) othersMs[other.name].push(await timeStore(other, [made]))
  }
  return times
}

/** Finishes the merges. @returns the milliseconds that it took, which belong to the bulk load. */
export async function finishMerges({ cairn }: Loading): Promise<number> {
  return timeBlocks(cairn, [], { merge: true })
}

type StoredBlock = Pick<BenchBlock, 'block' | 'receipts'>

/** Milliseconds of one transaction with the blocks, waiting for a checkpoint where an import would. */
async function timeBlocks(
  { head, checkpoints }: CairnStore,
  blocks: readonly StoredBlock[],
  { merge }: { merge: boolean },
): Promise<number> {
  const started = performance.now()
  for (const { block, receipts } of blocks) head.append(block, { receipts, totalDifficulty: 0n })
  head.commit()
  if (merge) head.workOnIndexes(Number.POSITIVE_INFINITY)
  await checkpoints.afterCommit()
  const ms = performance.now() - started
  await new Promise(setImmediate) // messages of the checkpoints' thread come in
  return ms
}

/** A block at the head of the chain as an import stores it: how long until readers have it, and how long the work
 *  behind that took; whether there is more of it. */
async function timeTip(
  { head, checkpoints }: CairnStore,
  { block, receipts }: StoredBlock,
  indexBudgetMs: number,
): Promise<{ ms: number; afterMs: number; busy: boolean }> {
  const started = performance.now()
  head.append(block, { receipts, totalDifficulty: 0n })
  head.commit()
  const ms = performance.now() - started
  const busy = head.workOnIndexes(indexBudgetMs)
  await checkpoints.afterCommit()
  const afterMs = performance.now() - started - ms
  await new Promise(setImmediate)
  return { ms, afterMs, busy }
}

/** The block as it would be without logs. */
function withoutLogs({ block, receipts }: BenchBlock): StoredBlock {
  return { block, receipts: receipts.map((receipt) => ({ ...receipt, logs: [] })) }
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

async function timeStore(store: LogStore, blocks: readonly BenchBlock[]): Promise<number> {
  const insert = store.stage(blocks)
  const started = performance.now()
  await insert()
  return performance.now() - started
}
