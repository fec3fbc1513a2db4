import { recordTraces } from '../evm/tracing/recordTraces.js'
import { loadTraceService, type TraceService } from '../evm/tracing/traceService.js'
import { UsageError } from '../lib/errors.js'
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
import { countMissing, fillRows } from './fillRows.js'

/** Returns the number of stored blocks that the trace index lacks. */
export function traceGap(db: Database): number {
  return countMissing(createChainReader(db), createTraceReader(db).lastBlock())
}

/** Stores the calls of the blocks that the trace index lacks, of a writable database, by executing them again. Blocks
 *  that cannot be executed get a row without calls. Progress, resumption and result are those of `fillRows`.
 *  @throws UsageError for a database with `--state none` */
export async function fillTraces(db: Database, run: { progress: Progress; signal?: AbortSignal }): Promise<boolean> {
  const chain = createChainReader(db)
  const coverage = chain.coverage()
  if (coverage === undefined) return true
  if (createMetaTable(db).get<string>(META_STATE_MODE) === 'none') {
    throw new UsageError('--traces: the blocks were imported with --state none and cannot be executed; leave it out')
  }
  const traces = await loadTraceService(db, { chain, watch: createCommitWatch(db) })
  const make = (block: StoredBlock) => {
    const { number } = block.header
    const canExecute = hasStateBefore(coverage, number) && !listedAround(coverage, number)
    return canExecute ? tracesIfKnown(traces, block) : undefined
  }
  return fillRows(db, { missing: traceGap(db), make, put: createTraceWriter(db).put }, run)
}

/** Executes a block again. Returns the calls of its transactions; undefined if it needs state that is not known. */
function tracesIfKnown(traces: TraceService, block: StoredBlock): CallTrace[][] | undefined {
  try {
    return recordTraces(traces, block)
  } catch (error) {
    if (!(error instanceof MissingState)) throw error
    return undefined
  }
}
