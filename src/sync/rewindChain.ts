import { yieldToEventLoop } from '../lib/pause.js'
import type { Progress } from '../lib/progress.js'
import type { Checkpoints } from '../store/checkpoints.js'
import type { WritableChain } from './chainState.js'
import { RewindOutOfRange } from './head/errors.js'

/** Summary of a rewind. */
export interface RewindSummary {
  blocks: number
  transactions: number
  logs: number
  /** The new head. */
  head: number
  /** True when the first block with sparse state was removed: it begins again when a chain is followed. */
  removedState: boolean
  interrupted: boolean
}

interface RewindOptions {
  /** Creates the progress over the blocks to remove. */
  startProgress(blocks: number): Progress
  signal?: AbortSignal
  checkpoints?: Checkpoints
}

// Blocks removed per transaction; bounds memory for accounts and slots and the write-ahead log.
const STEP_BLOCKS = 256
const INDEX_SLICE_MS = 100

/** Removes the blocks above `to`, newest first, in transactions of some hundred blocks. Each leaves a consistent chain,
 *  so an interrupted rewind can be run again. Finalized blocks are removed too. @throws RewindOutOfRange */
export async function rewindChain(
  { head, reader, sparse }: WritableChain,
  to: number,
  { startProgress, signal, checkpoints }: RewindOptions,
): Promise<RewindSummary> {
  const coverage = reader.coverage()
  const ends = () => reader.blockByNumber(head.newest!.header.number)!
  if (!coverage || to < coverage.first || to > coverage.head) throw new RewindOutOfRange(to, coverage)
  const before = ends()
  const progress = startProgress(coverage.head - to)
  while (head.newest!.header.number > to && !signal?.aborted) {
    head.rewind(Math.max(to, head.newest!.header.number - STEP_BLOCKS), { byOperator: true })
    head.commit()
    progress.update(coverage.head - head.newest!.header.number)
    await checkpoints?.afterCommit()
    await yieldToEventLoop() // signals are delivered only between transactions
  }
  while (!signal?.aborted && head.workOnIndexes(INDEX_SLICE_MS)) {
    await checkpoints?.afterCommit()
    await yieldToEventLoop()
  }
  progress.finish()
  const after = ends()
  return {
    blocks: before.header.number - after.header.number,
    transactions: before.firstTx + before.txCount - after.firstTx - after.txCount,
    logs: before.firstLog + before.logCount - after.firstLog - after.logCount,
    head: after.header.number,
    removedState: coverage.stateFirst !== undefined && sparse?.hasState === false,
    interrupted: after.header.number > to,
  }
}
