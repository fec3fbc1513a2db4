import type { Log } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import type { EnteredCall, Hooks } from '../interpreter/hooks.js'
import type { MemoryMeter } from '../interpreter/memoryMeter.js'

/** A log, and where its call emitted it. */
export interface TracedLog extends Log {
  /** Its index among the logs of the transaction; a log counts until it is reverted. */
  readonly index: number
  /** Calls that its call had made before it. */
  readonly position: number
}

/** A call, creation or SELFDESTRUCT of a transaction. */
export interface TracedCall extends EnteredCall {
  gasUsed: bigint
  /** Return data, revert data, or the new code; empty for other failures. */
  output: Uint8Array
  /** Set if the call failed, in geth's words. */
  failure?: string
  readonly calls: TracedCall[]
  /** Logs that neither it nor its callers reverted, if requested. */
  logs: TracedLog[]
}

/** Records the calls of one execution. */
export interface CallRecorder {
  readonly hooks: Hooks
  /** Returns the first call, with the others below it. Call it after the execution. */
  root(): TracedCall
}

// A call with its members, lists and texts.
const CALL_BYTES = 600
const LOG_BYTES = 400

/** Creates a recorder whose memory the meter counts. `onlyTopCall` omits the calls below the first. The hooks throw
 *  CallMemoryExceeded. */
export function recordCalls(meter: MemoryMeter, { onlyTopCall = false, withLog = false } = {}): CallRecorder {
  const open: TracedCall[] = []
  let root: TracedCall | undefined
  let depth = 0
  /** Number of logs not reverted; those of a call start at its element of `logsBefore`. */
  let logCount = 0
  const logsBefore: number[] = []
  const hooks: Hooks = {
    enter(call) {
      depth++
      logsBefore.push(logCount)
      if (onlyTopCall && depth > 1) return
      meter.take(CALL_BYTES + call.input.length)
      const traced: TracedCall = { ...call, gasUsed: 0n, output: EMPTY_BYTES, calls: [], logs: [] }
      if (root === undefined) root = traced
      else open[open.length - 1].calls.push(traced)
      open.push(traced)
    },
    exit({ output, gasLeft, failure }) {
      depth--
      const before = logsBefore.pop()!
      if (failure !== undefined) logCount = before
      if (onlyTopCall && depth > 0) return
      meter.take(output.length)
      const call = open.pop()!
      call.gasUsed = call.gas - gasLeft
      call.output = output
      if (failure === undefined) return
      call.failure = failure
      dropLogs(call)
    },
    log: withLog
      ? (log) => {
          const index = logCount++
          if (onlyTopCall && depth > 1) return
          meter.take(LOG_BYTES + log.data.length)
          const call = open[open.length - 1]
          call.logs.push({ ...log, index, position: call.calls.length })
        }
      : undefined,
  }
  return { hooks, root: () => root! }
}

function dropLogs(call: TracedCall): void {
  call.logs = []
  for (const each of call.calls) dropLogs(each)
}
