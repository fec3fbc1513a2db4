import type { ReplicationStatus } from '../ingest/replication/status.js'
import type { Logger } from '../lib/logger.js'

/** What a replica knows of the connection to its source. */
export interface Contact {
  /** Takes why there is no connection; null: there is one again. */
  onProblem(problem: string | null): void
  /** The source answered. */
  onContact(): void
  /** The status of applying with that of the connection: while there is a problem, the seconds since the source last answered count as lag. */
  addTo(status: ReplicationStatus): ReplicationStatus
}

/** A connection that was not made yet. `nowMs`: monotonic, default `performance.now`. */
export function createContact(log: Logger, nowMs: () => number = () => performance.now()): Contact {
  let problem: string | null = null
  let isFirst = true
  let lastMs = nowMs()
  return {
    onProblem(found) {
      if (found !== null && problem === null) log.warn({ problem: found }, 'no connection to the writer')
      if (found === null && problem !== null) log.info({}, 'connected to the writer')
      problem = found
    },
    onContact() {
      isFirst = false
      lastMs = nowMs()
    },
    addTo(status) {
      const silentSeconds = problem === null ? 0 : Math.floor((nowMs() - lastMs) / 1000)
      return {
        ...status,
        lagSeconds: Math.max(status.lagSeconds, silentSeconds),
        state: isFirst && status.state === 'following' ? 'catching up' : status.state,
        problem: status.problem ?? problem,
      }
    },
  }
}
