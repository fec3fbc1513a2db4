import { setTimeout as sleep } from 'node:timers/promises'
import { withoutHiding } from '../../lib/errors.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import type { WritableChain } from '../../sync/chainState.js'
import type { Applier } from './applier.js'
import type { UnitQueue } from './unitQueue.js'

// While units wait, so much of them is one transaction.
const BATCH_MS = 1000
// While the writer is behind half of what may be read ahead, or more. Blocks change the same pages, which are written once a transaction: 1.7 MB a
// block instead of 10 (docs/benchmarks.md).
const CATCH_UP_BATCH_MS = 5000
// How long units are applied before the source may read more.
const YIELD_MS = 20
// How long a writer that was behind waits for the next unit before it commits and turns to other work.
const ARRIVAL_MS = 100
// How long the next unit may have to wait for the indexes.
const INDEX_SLICE_MS = 3

/** Applies units until the signal aborts, or the queue is over and the state trie is that of the head. Each is committed at once, unless
 *  others wait: then they share transactions of about a second, of 5 while many wait. While none waits, the state trie, the indexes
 *  and the tries before the head are brought up to date.
 *  @throws as `Applier.apply`, and what the source throws; what was applied before is committed */
export async function applyUnits(
  chain: WritableChain,
  {
    applier,
    queue,
    checkpoints,
    signal,
  }: { applier: Applier; queue: UnitQueue; checkpoints?: Checkpoints; signal: AbortSignal },
): Promise<void> {
  const { head } = chain
  let begunMs: number | undefined
  let isBehind = false
  let [trieDue, moveDue, indexesDue, historyDue] = [true, true, true, true]
  /** The indexes of a replica that never rests get as much time as the blocks took, in slices. */
  const keepIndexesUp = async (forMs: number) => {
    const until = performance.now() + forMs
    while (head.workOnIndexes(INDEX_SLICE_MS) && performance.now() < until) await checkpoints?.afterCommit()
  }
  /** One step of what can wait. @returns false when nothing is left */
  const work = async (): Promise<boolean> => {
    if (trieDue) {
      const more = applier.workOnTrie()
      if (typeof more === 'boolean') trieDue = more
      else await (queue.isOver ? more : Promise.race([more, queue.wait()]))
    } else if (moveDue) moveDue = head.moveRecentState()
    else if (indexesDue) indexesDue = head.workOnIndexes(INDEX_SLICE_MS)
    else if (historyDue) historyDue = chain.extendTrieHistory()
    else return false
    await checkpoints?.afterCommit()
    await new Promise(setImmediate)
    return true
  }
  const commit = async () => {
    applier.commit()
    begunMs = undefined
    isBehind = false
    await checkpoints?.afterCommit()
  }
  /** Lets the source read. */
  let yieldedMs = performance.now()
  const yieldNow = async () => {
    await new Promise(setImmediate)
    yieldedMs = performance.now()
  }
  /** The next unit. A writer that is behind waits a moment for it: what comes may not have been read yet. */
  const take = async () => {
    if (performance.now() - yieldedMs > YIELD_MS) await yieldNow()
    const next = queue.shift()
    if (next || !isBehind || queue.isOver) return next
    await Promise.race([queue.wait(), sleep(ARRIVAL_MS, undefined, { ref: false })])
    return queue.shift()
  }
  try {
    while (!signal.aborted) {
      isBehind ||= queue.isLong
      const next = await take()
      if (next) {
        begunMs ??= performance.now()
        await applier.apply(next, { isBehind })
        trieDue = moveDue = indexesDue = historyDue = true
        const tookMs = performance.now() - begunMs
        const lasts = isBehind ? CATCH_UP_BATCH_MS : BATCH_MS
        if ((isBehind || !queue.isEmpty) && tookMs < lasts) continue
        await commit()
        if (!queue.isEmpty) await keepIndexesUp(tookMs)
        await yieldNow()
      } else if (begunMs !== undefined) await commit()
      else if (queue.isOver && !trieDue) return
      else if (!(await work())) await queue.wait()
    }
  } catch (error) {
    withoutHiding(error, () => applier.commit())
  }
  if (head.inTransaction) applier.commit()
}
