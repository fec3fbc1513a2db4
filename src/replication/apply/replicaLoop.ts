import { setTimeout as sleep } from 'node:timers/promises'
import { withoutHiding } from '../../lib/errors.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import type { WritableChain } from '../../sync/chainState.js'
import type { Applier } from './applier.js'
import type { UnitQueue } from './unitQueue.js'

// Max transaction time while change sets are queued.
const BATCH_MS = 1000
// Max transaction time while at least half of the read-ahead limit is queued. Blocks change the same pages, which are
// written once per transaction: 1.7 MB a block instead of 10.
const CATCH_UP_BATCH_MS = 5000
// Time after which applying yields to the source.
const YIELD_MS = 20
// Time that a writer that was behind waits for the next change set before it commits and turns to other work.
const ARRIVAL_MS = 100
// Max time that indexing delays the next change set.
const INDEX_SLICE_MS = 3

/** Applies change sets until the signal aborts, or until the queue is over and the state trie is at the head. Commits
 *  each at once, unless others are queued: these share transactions of about a second, or 5 while many are queued.
 *  While the queue is empty, brings the state trie, the indexes and the tries before the head up to date.
 *  @throws as `Applier.apply`, and the errors of the source; what was applied before is committed */
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
  /** Works on the indexes of a replica that never idles for as long as the blocks took, in slices. */
  const keepIndexesUp = async (forMs: number) => {
    const until = performance.now() + forMs
    while (head.workOnIndexes(INDEX_SLICE_MS) && performance.now() < until) await checkpoints?.afterCommit()
  }
  /** Does one step of deferrable work. @returns false when nothing is left */
  const work = async (): Promise<boolean> => {
    if (trieDue) {
      const more = applier.workOnTrie()
      if (typeof more === 'boolean') trieDue = more
      else await (queue.isOver ? more : Promise.race([more, queue.wait()]))
    } else if (moveDue) moveDue = head.moveRecentState()
    else if (indexesDue) indexesDue = head.workOnIndexes(INDEX_SLICE_MS)
    else if (historyDue) historyDue = chain.workOnTries()
    else return false
    await checkpoints?.afterCommit()
    await yieldToEventLoop()
    return true
  }
  const commit = async () => {
    applier.commit()
    begunMs = undefined
    isBehind &&= queue.isStillLong
    await checkpoints?.afterCommit()
  }
  /** Lets the source read. */
  let yieldedMs = performance.now()
  const yieldNow = async () => {
    await yieldToEventLoop()
    yieldedMs = performance.now()
  }
  /** Returns the next change set. A writer that is behind waits briefly for it: it may have arrived and not been
   *  read yet. */
  const take = async () => {
    if (performance.now() - yieldedMs > YIELD_MS) await yieldNow()
    const next = queue.shift()
    if (next || !isBehind || queue.isOver) return next
    await Promise.race([queue.wait(), sleep(ARRIVAL_MS, undefined, { ref: false })])
    return queue.shift()
  }
  try {
    while (!signal.aborted) {
      if (!isBehind && queue.isLong) {
        // The changes of a transaction go to the thread that hashes from its first block on, or not at all.
        if (begunMs !== undefined) await commit()
        isBehind = true
      }
      const next = await take()
      if (next) {
        begunMs ??= performance.now()
        await applier.apply(next, { isBehind })
        trieDue = indexesDue = historyDue = true
        moveDue ||= head.isMoveDue()
        const tookMs = performance.now() - begunMs
        const lasts = isBehind ? CATCH_UP_BATCH_MS : BATCH_MS
        if (!applier.commitsEach && (isBehind || !queue.isEmpty) && tookMs < lasts) continue
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
