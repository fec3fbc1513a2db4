import type { CallTrace } from '../../store/rows/callTraces.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { TraceRecorder } from '../transition/traceRecorder.js'
import type { TraceService } from './traceService.js'
import { UNLIMITED } from './unlimited.js'

/** Executes a block again, without limits. Returns the calls of each transaction, in the order in which they began.
 *  @throws StateUnavailable, MissingState */
export function recordTraces(traces: TraceService, block: StoredBlock): CallTrace[][] {
  const transactions: CallTrace[][] = []
  traces.replay(block, UNLIMITED, (execution) => {
    const recorder = new TraceRecorder(execution.machine)
    execution.run(recorder)
    transactions.push(...recorder.transactions)
  })
  return transactions
}
