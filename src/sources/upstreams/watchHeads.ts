import { equalBytes } from '../../lib/bytes.js'
import type { Logger } from '../../lib/logger.js'
import { findLeader } from './askOthers.js'
import { createBlockTime } from './blockTime.js'
import type { Clock } from './clock.js'
import { UpstreamError, UpstreamInvalidResponse, UpstreamRpcError } from './errors.js'
import type { HeadFeed } from './headFeed.js'
import { linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { Upstream } from './upstream.js'

interface WatchOptions<H extends { readonly hash: Uint8Array }> {
  pool: Pool
  feed: HeadFeed<H>
  log: Logger
  clock: Clock
}

// A subscription that is silent for this many block times is polled for missed heads.
const SILENT_BLOCKS = 4
const MIN_SILENCE_MS = 2000

/** Reports each new head until `outer` aborts: by the notifications of a WebSocket upstream, resubscribed after a lost
 *  connection, else by polling. The first call has the current head; heads that arrive while `onHead` runs are merged.
 *  @throws what `onHead` throws. */
export async function watchHeads<H extends { readonly hash: Uint8Array }>(
  options: WatchOptions<H>,
  onHead: (head: H) => void | Promise<void>,
  outer: AbortSignal,
): Promise<void> {
  const { pool, feed, log, clock } = options
  const linked = linkAbort(outer)
  const { signal } = linked
  const blockTime = createBlockTime()
  let failure: { error: unknown } | undefined
  // Where the hash does not cover the number, a node may correct a wrong number.
  const isSame = (a: H, b: H) => equalBytes(a.hash, b.hash) && feed.timeOf(a).number === feed.timeOf(b).number
  const teller = createTeller(onHead, {
    isSame,
    onError: (error) => {
      failure ??= { error }
      linked.abort(error)
    },
  })
  let newestMs = clock.nowMs()
  let lookedMs = Number.NEGATIVE_INFINITY
  let highest = -1
  const silenceMs = () => Math.max(MIN_SILENCE_MS, SILENT_BLOCKS * (blockTime.expectedMs ?? MIN_SILENCE_MS))
  const offer = (head: H) => {
    // After an invalid response the head is reported again, so that whether it is reached is known.
    if (!teller.offer(head, { again: pool.isDoubted })) return
    blockTime.add(feed.timeOf(head), clock.nowMs())
    newestMs = clock.nowMs()
    highest = Math.max(highest, feed.timeOf(head).number)
  }
  /** Finds an upstream that is ahead: a node may answer well, and be stuck. */
  const lookElsewhere = async (upstream: Upstream, head: H) => {
    const block = feed.timeOf(head).number
    const nowMs = clock.nowMs()
    if (pool.upstreams.length === 1 || (block >= highest - 1 && nowMs - newestMs < silenceMs())) return
    if (nowMs - lookedMs < MIN_SILENCE_MS) return // the highest head may have been invalid, or reorganized
    lookedMs = nowMs
    newestMs = nowMs
    const leader = await findLeader(pool, feed, { upstream, head }, signal)
    if (!leader) return
    const aheadBlock = feed.timeOf(leader.head).number
    log.info({ upstream: upstream.name, block, ahead: leader.upstream.name, aheadBlock }, 'the upstream is behind')
    offer(leader.head)
  }
  try {
    for (;;) {
      const { head, asked } = await pool.run(
        async (upstream) => ({ head: await feed.fetch(upstream, signal), asked: upstream }),
        signal,
      )
      offer(head)
      await lookElsewhere(asked, head)
      const upstream = pool.preferred()
      if (upstream?.listen && upstream.features.has(feed.subscription.subscribe)) {
        await followSubscription(upstream, options, { offer, lookElsewhere, silenceMs, signal })
      } else {
        await clock.sleep(blockTime.pollMs, signal)
      }
    }
  } catch (error) {
    if (!outer.aborted && !failure) throw error
  } finally {
    linked.release()
    await teller.idle()
  }
  if (failure) throw failure.error
}

interface Subscription<H> {
  offer(head: H): void
  /** Looks for an upstream that is ahead, when this one has been silent for long. */
  lookElsewhere(upstream: Upstream, head: H): Promise<void>
  silenceMs(): number
  signal: AbortSignal
}

/** Offers the heads of a subscription until the connection is lost, the upstream fails, or another one is preferred.
 *  @throws the reason of the signal. */
async function followSubscription<H extends { readonly hash: Uint8Array }>(
  upstream: Upstream,
  { pool, feed, log, clock }: WatchOptions<H>,
  { offer, lookElsewhere, silenceMs, signal }: Subscription<H>,
): Promise<void> {
  const { subscribe, params, unsubscribe } = feed.subscription
  const inbox = createInbox()
  const unlisten = upstream.listen!(inbox.push, inbox.lose)
  let subscription: unknown
  try {
    subscription = await pool.runAt(upstream, () => upstream.call(subscribe, params, signal), signal)
    // Heads that arrived between the last answer and the subscription.
    offer(await pool.runAt(upstream, () => feed.fetch(upstream, signal), signal))
    while (pool.preferred() === upstream) {
      const event = await inbox.next(clock, silenceMs(), signal)
      if (event === 'lost') break
      const head = event === 'silent' ? undefined : readNotification(feed, upstream, event.result, log)
      if (head) {
        offer(head)
        continue
      }
      // Neither silence nor an invalid notification shows what the head is.
      const asked = await pool.runAt(upstream, () => feed.fetch(upstream, signal), signal)
      offer(asked)
      await lookElsewhere(upstream, asked)
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    if (error instanceof UpstreamRpcError && error.method === subscribe) upstream.features.lacks(subscribe)
  } finally {
    unlisten()
    if (subscription !== undefined && !inbox.isLost && !signal.aborted) {
      upstream.call(unsubscribe, [subscription], signal).catch(() => {})
    }
  }
}

/** Returns the head of a notification; undefined when it fails a check: some nodes leave members out. */
function readNotification<H extends { readonly hash: Uint8Array }>(
  feed: HeadFeed<H>,
  upstream: Upstream,
  result: unknown,
  log: Logger,
): H | undefined {
  try {
    return feed.read(upstream, result)
  } catch (error) {
    if (!(error instanceof UpstreamInvalidResponse)) throw error
    const { check, problem } = error
    log.warn({ upstream: upstream.name, check, problem }, 'a notification of the upstream failed a check; asking again')
    return undefined
  }
}

/** Reports heads one at a time; those that arrive meanwhile are merged into the newest. */
function createTeller<H>(
  onHead: (head: H) => void | Promise<void>,
  { isSame, onError }: { isSame(a: H, b: H): boolean; onError(error: unknown): void },
) {
  let last: H | undefined
  let next: H | undefined
  let notifying: Promise<void> | undefined
  const notify = async () => {
    try {
      while (next) {
        const head = next
        next = undefined
        await onHead(head)
      }
    } catch (error) {
      onError(error)
    } finally {
      notifying = undefined
    }
  }
  return {
    /** @returns false for the head that was offered last, which is reported with `again` alone */
    offer(head: H, { again }: { again: boolean }): boolean {
      const isNew = last === undefined || !isSame(last, head)
      if (!isNew && !again) return false
      last = head
      next = head
      notifying ??= notify()
      return isNew
    },
    idle: () => notifying,
  }
}

type InboxEvent = 'lost' | 'silent' | { result: unknown }

/** Notifications that wait to be read: the newest of them, since heads are merged anyway. */
function createInbox() {
  let newest: { result: unknown } | undefined
  let lost = false
  let wake: (() => void) | undefined
  return {
    get isLost() {
      return lost
    },
    push: (result: unknown) => {
      newest = { result }
      wake?.()
    },
    lose: () => {
      lost = true
      wake?.()
    },
    async next(clock: Clock, silenceMs: number, signal: AbortSignal): Promise<InboxEvent> {
      if (!newest && !lost) {
        const woken = linkAbort(signal)
        wake = () => woken.abort(WOKEN)
        try {
          await clock.sleep(silenceMs, woken.signal)
        } catch (error) {
          if (error !== WOKEN) throw error
        } finally {
          wake = undefined
          woken.release()
        }
      }
      const event = newest
      newest = undefined
      return event ?? (lost ? 'lost' : 'silent')
    },
  }
}

const WOKEN = new Error('woken')
