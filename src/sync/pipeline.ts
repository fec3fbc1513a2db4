import { familyOf } from '../chain/eth/families/families.js'
import { InvalidBlock } from '../chain/eth/invalidBlock.js'
import { equalBytes } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import { yieldToEventLoop } from '../lib/pause.js'
import type { SenderRecovery } from '../sources/senders/senderRecovery.js'
import type { BlockSource, RawBlock } from '../sources/source.js'
import type { Checkpoints } from '../store/checkpoints.js'
import { createBlockAppender } from './blockAppender.js'
import type { WritableChain } from './chainState.js'
import { flushOnIdle } from './flushOnIdle.js'
import type { FileProgress } from './import/importProgress.js'
import { chooseRootInterval } from './rootInterval.js'

/** Totals of the import of one source. */
export interface PipelineSummary {
  imported: number
  /** Blocks that were already stored. */
  skipped: number
  /** True when `signal` ended it early. */
  interrupted: boolean
}

interface PipelineOptions {
  progress: FileProgress
  signal?: AbortSignal
  /** Undefined: the writer runs its own checkpoints. */
  checkpoints?: Checkpoints
  /** Blocks between two checks of the state root; 0 or undefined: chosen by the size of the state. */
  rootInterval?: number
  /** From this block on, blocks are stored as at the tip (`createBlockAppender`). Default: none is. */
  tipFrom?: number
  /** How long a batch waits for the next block of an asynchronous source before it is committed. Default: 100 ms. */
  idleMs?: number
  /** False: the caller does the index work that is left after the last block. */
  finishIndexes?: boolean
  /** Recovers senders of the source ahead in another thread. Default: the calling thread recovers all. */
  senderRecovery?: SenderRecovery
}

// A batch is one transaction, limited to this many blocks or this long, so that little is lost when the process is
// killed.
const BATCH_BLOCKS = 1000
const BATCH_MS = 1000
// Signals and timers do not run between promises alone.
const BREATHE_MS = 50
const IDLE_MS = 100
// Index work between two clock checks; the longest delay of the next block.
const INDEX_SLICE_MS = 10

/** Imports the blocks of a source on top of the chain: decodes, verifies, executes and stores them in batches. Skips
 *  blocks that are stored. Commits a batch when it is full, or when the source has no further block for now.
 *  @throws InvalidBlock when a block is refused; SourceError when the source cannot be read further. Blocks before it
 *  stay, of the block itself nothing does. */
export async function importBlocks(
  chain: WritableChain,
  source: BlockSource,
  {
    progress,
    signal,
    checkpoints,
    rootInterval = 0,
    tipFrom = Number.POSITIVE_INFINITY,
    idleMs = IDLE_MS,
    finishIndexes = true,
    senderRecovery,
  }: PipelineOptions,
): Promise<PipelineSummary> {
  const summary: PipelineSummary = { imported: 0, skipped: 0, interrupted: false }
  const batches = createBatches(chain, { checkpoints, tipFrom })
  const held = chain.reader.head()
  const tally = { blocks: 0, transactions: 0, gas: 0, blockNumber: held }
  const count = (blockNumber: number) => {
    tally.blocks++
    tally.blockNumber = blockNumber
  }
  let breathedMs = performance.now()
  const intervalNow = () => {
    const left = (source.totalBlocks ?? Number.POSITIVE_INFINITY) - summary.imported - summary.skipped
    return chooseRootInterval(rootInterval, chain.executor?.accounts ?? 0, left)
  }
  const commitOnIdle = <T>(items: Iterable<T> | AsyncIterable<T>) =>
    Symbol.asyncIterator in items ? flushOnIdle(items, { idleMs, onIdle: batches.end }) : items
  try {
    const passedOver = (number: number, hash: Uint8Array) => {
      if (signal?.aborted) throw new Stopped()
      requireAvailable(chain, number, hash)
      summary.skipped++
      count(number)
      progress.update(tally)
    }
    const blocks = source.blocks({
      from: held === undefined ? 0 : held + 1,
      passedOver,
      senderRecovery,
      family: familyOf(chain.spec),
    })
    for await (const raw of commitOnIdle(blocks)) {
      if (signal?.aborted) {
        summary.interrupted = true
        break
      }
      if (raw.block.header.number <= (chain.head.newest?.header.number ?? -1)) {
        passedOver(raw.block.header.number, raw.block.hash)
      } else {
        await batches.take(raw, intervalNow())
        summary.imported++
        count(raw.block.header.number)
        tally.transactions += raw.block.transactions.length
        tally.gas += Number(raw.block.header.gasUsed)
      }
      if (performance.now() - breathedMs > BREATHE_MS) {
        progress.update(tally)
        await yieldToEventLoop()
        breathedMs = performance.now()
      }
    }
  } catch (error) {
    if (!(error instanceof Stopped))
      throw await batches.end().then(
        () => error,
        (later) => firstOf(error, later),
      )
    summary.interrupted = true
  }
  await batches.end()
  if (finishIndexes) chain.head.sealIndexes()
  while (finishIndexes && !signal?.aborted && chain.head.workOnIndexes(INDEX_SLICE_MS)) {
    await yieldToEventLoop()
  }
  progress.update(tally)
  return summary
}

/** Returns the failure that came first: that of the end may concern an earlier block, whose state root was not compared
 *  before. */
function firstOf(error: unknown, atEnd: unknown): unknown {
  return atEnd instanceof InvalidBlock ? atEnd : error
}

/** A signal arrived while blocks were skipped; an exception is the only way to stop the source. */
class Stopped extends Error {}

/** Collects blocks into transactions. */
function createBatches(
  chain: WritableChain,
  { checkpoints, tipFrom }: Pick<PipelineOptions, 'checkpoints' | 'tipFrom'>,
) {
  const { head } = chain
  const appender = createBlockAppender(chain, { tipFrom })
  let blocks = 0
  let startedMs = 0
  const isFull = () => blocks >= BATCH_BLOCKS || (blocks > 0 && performance.now() - startedMs > BATCH_MS)
  const end = async (): Promise<void> => {
    const wasOpen = blocks > 0
    blocks = 0
    try {
      await appender.flush()
    } finally {
      head.commit() // valid blocks stay, whatever came after them
    }
    if (!wasOpen) return
    await checkpoints?.afterCommit()
    await workOnIndexes(performance.now() - startedMs)
  }
  /** Index work gets as much time as the blocks took, in slices: indexes keep up, and the next block does not wait
   *  long. */
  const workOnIndexes = async (forMs: number) => {
    const until = performance.now() + forMs
    while (head.workOnIndexes(INDEX_SLICE_MS) && performance.now() < until) await checkpoints?.afterCommit()
  }
  return {
    end,
    take: async (raw: RawBlock, interval: number): Promise<void> => {
      if (blocks === 0) startedMs = performance.now()
      blocks++
      await appender.take(raw, interval)
      if (isFull()) await end()
    },
  }
}

/** @throws InvalidBlock when the chain has another block with that number or starts after it. */
function requireAvailable({ reader }: WritableChain, blockNumber: number, blockHash: Uint8Array): void {
  const held = reader.blockHash(blockNumber)
  if (held && equalBytes(held, blockHash)) return
  const expected = held ? formatData(held) : 'none, since the first stored block is later'
  throw new InvalidBlock({ blockNumber, blockHash, check: 'canonical block', expected, actual: formatData(blockHash) })
}
