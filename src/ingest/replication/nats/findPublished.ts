import type { BlockRef } from '../../head/events.js'
import { type Clock, systemClock } from '../../sources/upstream/clock.js'
import type { ReplicaChain } from '../apply/openReplica.js'
import type { ReplicaPlace } from '../types.js'
import type { NatsLink } from './connection.js'
import { StreamMissing, StreamReplaced } from './errors.js'
import { findStart } from './findStart.js'
import { describeFailure, isPassing } from './passing.js'
import { untilAborted } from './sender.js'
import { openStream } from './stream.js'

interface FindOptions {
  readonly signal: AbortSignal
  /** Told why there is no answer yet. */
  onProblem(problem: string | null): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

const RETRY_MS = 500

/** The newest block of the locator that was the head of the stream's chain; undefined when none was, or there is no stream. Asks until
 *  the servers answer. @throws StreamOfOtherChain, the reason of the signal */
export async function findPublished(
  link: NatsLink,
  chain: ReplicaChain,
  place: ReplicaPlace,
  { signal, onProblem, clock = systemClock }: FindOptions,
): Promise<BlockRef | undefined> {
  for (;;) {
    try {
      const stream = await untilAborted(openStream(link, chain), signal)
      const start = await untilAborted(findStart(link, stream, place, { signal }), signal)
      onProblem(null)
      return start?.top
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof StreamMissing || error instanceof StreamReplaced) return undefined
      if (!isPassing(error)) throw error
      onProblem(describeFailure(error))
    }
    await clock.sleep(RETRY_MS, signal)
  }
}
