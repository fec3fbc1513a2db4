import type { Logger } from '../../lib/logger.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'

/** Tracks the connection of a replica to its source. */
export interface ConnectionHealth {
  /** Called with the reason on disconnect, null on reconnect. */
  onProblem(problem: string | null): void
  /** Called when the source answered. */
  onActivity(): void
  /** Called when another process was seen to hold the writer's lease; with `isWatched`, sets whether the lease is
   *  watched from now on. */
  onWriter(isWatched?: boolean): void
  /** Adds the status of the connection to that of applying. While there is a problem, the seconds since the source
   *  last answered count as lag; while no writer is seen, the seconds since one was. After 10 such seconds the
   *  number of blocks behind is unknown. */
  addTo(status: ReplicationStatus): ReplicationStatus
}

/** A standby takes over 7 s after the last renewal of the lease. */
const UNKNOWN_AFTER_MS = 10_000
const NO_WRITER = 'no server has the lease of the writer: the lag is unknown'

/** Creates the health of a connection that is not established yet. `nowMs`: monotonic, default `performance.now`. */
export function createConnectionHealth(log: Logger, nowMs: () => number = () => performance.now()): ConnectionHealth {
  let problem: string | null = null
  let isFirst = true
  let lastMs = nowMs()
  /** When the writer was last seen. Undefined: it is not watched. */
  let writerMs: number | undefined
  return {
    onProblem(found) {
      if (found !== null && problem === null) log.warn({ problem: found }, 'no connection to the writer')
      if (found === null && problem !== null) log.info({}, 'connected to the writer')
      problem = found
    },
    onActivity() {
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
