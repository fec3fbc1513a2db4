import { loadTraceService, type TraceService } from '../evm/tracing/traceService.js'
import { TraceRecorder } from '../evm/transition/traceRecorder.js'
import { noDeadline } from '../lib/deadline.js'
import { UsageError } from '../lib/errors.js'
import { yieldToEventLoop } from '../lib/pause.js'
import type { Progress } from '../lib/progress.js'
import { createCommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_STATE_MODE } from '../store/meta.js'
import type { CallTrace } from '../store/rows/callTraces.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { hasStateBefore, listedAround } from '../store/rows/coverage.js'
import { createTraceReader, createTraceWriter } from '../store/rows/traceRows.js'
import type { StoredBlock } from '../store/rows/types.js'
import { MissingState } from '../store/state/missingState.js'

// Time of executing blocks between two transactions.
const SLICE_MS = 50

/** Returns the number of stored blocks that the trace index lacks. */
export function traceGap(db: Database): number {
  const { first, head } = createChainReader(db).coverage() ?? { first: 0, head: -1 }
  return head - (createTraceReader(db).lastBlock() ?? first - 1)
}

/** Stores the calls of the blocks that the trace index lacks, of a writable database, by executing them again. Blocks
 *  that cannot be executed get a row without calls. Processes blocks in order and commits every 50 ms, so an
 *  interrupted run can be resumed. `progress` receives the number of blocks done so far.
 *  @returns false if `signal` ended it early
 *  @throws UsageError for a database with `--state none` */
export async function fillTraces(
  db: Database,
  { progress, signal }: { progress: Progress; signal?: AbortSignal },
): Promise<boolean> {
  const chain = createChainReader(db)
  const coverage = chain.coverage()
  if (coverage === undefined) return true
  if (createMetaTable(db).get<string>(META_STATE_MODE) === 'none') {
    throw new UsageError('--traces: the blocks were imported with --state none and cannot be executed; leave it out')
  }
  const traces = await loadTraceService(db, { chain, watch: createCommitWatch(db) })
  const writer = createTraceWriter(db)
  const store = db.transaction((from: number, blocks: readonly (CallTrace[][] | undefined)[]) => {
    for (const [i, calls] of blocks.entries()) writer.put(from + i, calls)
  })
  const { head } = coverage
  const start = head - traceGap(db) + 1
  let next = start
  while (next <= head) {
    if (signal?.aborted) return false
    const blocks: (CallTrace[][] | undefined)[] = []
    const startMs = performance.now()
    while (next + blocks.length <= head && performance.now() - startMs < SLICE_MS) {
      const block = chain.blockByNumber(next + blocks.length)!
      const { number } = block.header
      const canExecute = hasStateBefore(coverage, number) && !listedAround(coverage, number)
      blocks.push(canExecute ? callsIn(traces, block) : undefined)
    }
    store(next, blocks)
    next += blocks.length
    progress.update(next - start)
    await yieldToEventLoop() // signals are delivered only between transactions
  }
  return true
}

/** Executes a block again: `BlockOutcome.traces`. Returns undefined if it needs state that is not known. */
function callsIn(traces: TraceService, block: StoredBlock): CallTrace[][] | undefined {
  const calls: CallTrace[][] = []
  try {
    traces.replay(block, { deadline: noDeadline, memoryBytes: Number.POSITIVE_INFINITY }, (execution) => {
      const recorder = new TraceRecorder(execution.machine)
      execution.run(recorder)
      calls.push(...recorder.transactions)
    })
  } catch (error) {
    if (!(error instanceof MissingState)) throw error
    return undefined
  }
  return calls
}
