import type { Logger } from '../../lib/logger.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'

/** What a replica knows of the connection to its source. */
export interface ConnectionHealth {
  /** Takes why there is no connection; null: there is one again. */
  onProblem(problem: string | null): void
  /** The source answered. */
  onConnectionHealth(): void
  /** The lease of the writer was seen to be held; or, with `isWatched`, whether it is looked for from now on. */
  onWriter(isWatched?: boolean): void
  /** The status of applying with that of the connection. While there is a problem, the seconds since the source last answered count as
   *  lag; while no writer is seen, those since one was. After 10 such seconds the blocks behind are not known. */
  addTo(status: ReplicationStatus): ReplicationStatus
}

/** A standby takes over 7 s after the last renewal of the lease. */
const UNKNOWN_AFTER_MS = 10_000
const NO_WRITER = 'no server has the lease of the writer: the lag is unknown'

/** A connection that was not made yet. `nowMs`: monotonic, default `performance.now`. */
export function createConnectionHealth(log: Logger, nowMs: () => number = () => performance.now()): ConnectionHealth {
  let problem: string | null = null
  let isFirst = true
  let lastMs = nowMs()
  /** Undefined: it is not watched. */
  let writerMs: number | undefined
  return {
    onProblem(found) {
      if (found !== null && problem === null) log.warn({ problem: found }, 'no connection to the writer')
      if (found === null && problem !== null) log.info({}, 'connected to the writer')
      problem = found
    },
    onConnectionHealth() {
      isFirst = false
      lastMs = nowMs()
    },
    onWriter(isWatched = true) {
      writerMs = isWatched ? nowMs() : undefined
    },
    addTo(status) {
      const silentMs = problem === null ? 0 : nowMs() - lastMs
      const withoutWriterMs = nowMs() - (writerMs ?? nowMs())
      const hasNoWriter = withoutWriterMs > UNKNOWN_AFTER_MS
      const unheardMs = hasNoWriter ? Math.max(silentMs, withoutWriterMs) : silentMs
      return {
        ...status,
        lagBlocks: unheardMs > UNKNOWN_AFTER_MS ? null : status.lagBlocks,
        lagSeconds: Math.max(status.lagSeconds, Math.floor(unheardMs / 1000)),
        state: isFirst && status.state === 'following' ? 'catching up' : status.state,
        problem: status.problem ?? problem ?? (hasNoWriter ? NO_WRITER : null),
      }
    },
  }
}
