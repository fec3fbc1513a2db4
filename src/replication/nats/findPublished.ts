import type { BlockRef } from '../../sync/head/events.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { ReplicaPlace } from '../codec/types.js'
import type { NatsLink } from './connection.js'
import { StreamDiverged, StreamMissing, StreamReplaced } from './errors.js'
import { findStart } from './findStart.js'
import { openStream } from './stream.js'
import { type AnswerOptions, untilAborted, untilAnswered } from './transientError.js'

/** Returns the newest block of the locator that was the head of the stream's chain; undefined when none was, or the
 *  stream is missing. Retries until the servers answer. @throws StreamOfOtherChain, the reason of the signal */
export async function findPublished(
  link: NatsLink,
  chain: ReplicaChain,
  place: ReplicaPlace,
  options: AnswerOptions,
): Promise<BlockRef | undefined> {
  const { signal } = options
  try {
    const find = async () => findStart(link, await openStream(link, chain), place, { signal })
    const start = await untilAnswered(() => untilAborted(find(), signal), options)
    return start?.top
  } catch (error) {
    if ([StreamMissing, StreamReplaced, StreamDiverged].some((kind) => error instanceof kind)) return undefined
    throw error
  }
}
