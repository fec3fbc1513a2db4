import type { Logger } from '../../lib/logger.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { NatsLink } from './connection.js'
import { readLease } from './lease.js'
import { isDenied, isTransientError } from './transientError.js'

/** Options of `watchWriter`. */
export interface WatchWriterOptions {
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called each time that a publishing process is seen to have the lease. `head`: number of its newest block;
   *  undefined if the lease does not name it. */
  onWriter(head: number | undefined): void
  /** Called once when reading the lease is denied; no other call follows. */
  onDenied(): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

const LOOK_MS = 1000

/** Checks the lease of the writer once a second until the signal aborts: the end of the stream does not show whether
 *  there are blocks that cannot be published. @throws errors that `isTransientError` does not name */
export async function watchWriter(
  link: NatsLink,
  chain: ReplicaChain,
  { log, signal, onWriter, onDenied, clock = systemClock }: WatchWriterOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await readLease(link, chain)
      if (lease !== undefined && lease.head !== null && !signal.aborted) onWriter(lease.head)
    } catch (error) {
      if (signal.aborted) return
      if (isDenied(error)) {
        log.warn({}, "the lease of the writer may not be read, so the lag is that behind the stream's end")
        onDenied()
        return
      }
      if (!isTransientError(error)) throw error
    }
    await clock.sleep(LOOK_MS, signal).catch(() => {}) // aborted: the loop ends
  }
}
