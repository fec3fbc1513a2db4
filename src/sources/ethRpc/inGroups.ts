import { createSemaphore } from '../../lib/semaphore.js'
import { linkAbort } from '../upstreams/linkedAbort.js'

const MAX_RUNNING = 4

/** Returns the results of the task in the order of the groups; runs four at a time. The first failure aborts the
 *  others. @throws what the task throws first; the reason of `signal` */
export async function inGroups<G, T>(
  groups: readonly G[],
  task: (group: G, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T[]> {
  const linked = linkAbort(signal)
  const semaphore = createSemaphore(MAX_RUNNING)
  const run = async (group: G) => {
    linked.signal.throwIfAborted()
    try {
      return await task(group, linked.signal)
    } catch (error) {
      linked.abort(error)
      throw error
    }
  }
  try {
    return await Promise.all(groups.map((group) => semaphore.run(() => run(group))))
  } finally {
    linked.release()
  }
}
