import type { FailureLog } from '../../lib/failureLog.js'
import type { Logger } from '../../lib/logger.js'
import type { Metrics } from '../../lib/metrics.js'
import type { Database } from '../../store/database.js'
import { type ChainMark, EVERYTHING } from '../../store/rows/chainFollower.js'
import type { ClientFilters } from '../core/session.js'
import type { TimeBudget } from '../core/timeBudget.js'
import { type ChainFeed, createChainFeed } from './chainFeed.js'
import type { Feed } from './feed.js'
import { type Client, Filters } from './filters.js'
import { createL2Feed, type L2Feed } from './l2Feed.js'
import type { SubscriptionLimits } from './limits.js'
import { ListenerMemory } from './listenerMemory.js'
import { type ConnectedSubscriber, type Link, type Outgoing, Subscribers } from './subscribers.js'
import { createSubscriptionRegistry } from './subscriptionRegistry.js'

/** Notifies clients of changes of the chain. */
export interface Subscriptions {
  filtersOf(client: Client): ClientFilters
  connect(client: Client, link: Link): ConnectedSubscriber
  close(): void
}

/** How often the database is polled for commits of other processes while there are listeners: 3 µs each. */
const LOOK_MS = 3
const SWEEP_MS = 1_000
/** How long a poll of a filter waits for changes that are being notified. */
const CATCH_UP_MS = 1_000

/** Reason for disconnecting subscribers. */
const MISSED = 'some changes of the chain were missed; subscribe again'

interface SubscriptionOptions {
  readonly db: Database
  readonly timeBudget: TimeBudget
  readonly limits: SubscriptionLimits
  readonly failures: FailureLog
  readonly metrics: Metrics
  readonly log: Logger
}

/** Subscriptions and filters over the connection of the main thread. Notifies of changes one after another, within the
 *  time of `timeBudget`. */
export function createSubscriptions(options: SubscriptionOptions): Subscriptions {
  const { db, limits, metrics, log } = options
  const registry = createSubscriptionRegistry()
  const chain = createChainFeed(db, registry, {
    onMissed: (error) => {
      log.warn({ subscriptions: subscribers.count(), filters: filters.count() }, error.message)
      filters.clear()
      subscribers.cutOff(MISSED)
    },
  })
  const l2 = createL2Feed(db)
  const polling = new FeedPolling(options, () => subscribers.takeOutgoing())
  const mark = (): ChainMark => (polling.begin(chain) ? chain.mark() : EVERYTHING)
  const begunL2 = () => {
    polling.begin(l2)
    return l2
  }
  const memory = new ListenerMemory(limits)
  const filters = new Filters(registry, { limits, memory, mark, caughtUp: () => polling.caughtUp() })
  const subscribers = new Subscribers({ registry, mark, l2: begunL2 }, { limits, memory })
  const sweeping = setInterval(() => filters.sweep(), SWEEP_MS).unref()
  registerMetrics(metrics, { filters, subscribers, memory, chain, l2 })
  return {
    filtersOf: (client) => filters.of(client),
    connect: (client, link) => subscribers.connect(client, link),
    close() {
      polling.stop()
      clearInterval(sweeping)
    },
  }
}

/** Polls the database for changes while feeds have listeners, and sends the notifications of each change. */
class FeedPolling {
  readonly #timeBudget: TimeBudget
  readonly #failures: FailureLog
  readonly #takeOutgoing: () => Outgoing[]
  /** Feeds with listeners, and whether each has started. */
  readonly #wanted = new Map<Feed, boolean>()
  /** Present while listeners are notified. */
  #notifying: Promise<void> | undefined
  #looking: NodeJS.Timeout | undefined

  constructor({ timeBudget, failures }: SubscriptionOptions, takeOutgoing: () => Outgoing[]) {
    this.#timeBudget = timeBudget
    this.#failures = failures
    this.#takeOutgoing = takeOutgoing
  }

  /** Starts polling for changes of a feed, unless started already. @returns true if the feed has started */
  begin(feed: Feed): boolean {
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS).unref()
    if (!this.#wanted.get(feed)) this.#start(feed)
    return this.#wanted.get(feed) === true
  }

  /** Resolves when listeners were notified of all changes that the database has at the call, or after a second: what a
   *  client has read of the chain is then in its filters too. */
  async caughtUp(): Promise<void> {
    await undefined // the snapshot of the caller ends first
    const endMs = performance.now() + CATCH_UP_MS
    // A run may have looked for changes for the last time before the call.
    for (let run = 0; run < 2; run++) {
      const notifying = this.#notifying ?? this.#notifyChanges()
      if (notifying === undefined) return
      await endsBy(notifying, endMs)
    }
  }

  stop(): void {
    clearInterval(this.#looking)
    this.#looking = undefined
    this.#wanted.clear()
  }

  #look(): void {
    for (const [feed, isStarted] of this.#wanted) {
      if (feed.size() === 0) this.#wanted.delete(feed)
      else if (!isStarted) this.#start(feed)
    }
    if (this.#wanted.size === 0) this.stop()
    else if (this.#notifying === undefined) void this.#notifyChanges()
  }

  /** The feed stays unstarted while the database cannot be read. */
  #start(feed: Feed): void {
    this.#wanted.set(feed, false)
    try {
      feed.start()
      this.#wanted.set(feed, true)
    } catch (error) {
      this.#failures.failed(error)
    }
  }

  #findStale(): Feed[] {
    return [...this.#wanted].filter(([feed, isStarted]) => isStarted && feed.isStale()).map(([feed]) => feed)
  }

  /** Begins to notify of changes; undefined if there are none. */
  #notifyChanges(): Promise<void> | undefined {
    const stale = this.#findStale()
    if (stale.length === 0) return undefined
    this.#notifying = this.#notifyOf(stale)
    return this.#notifying
  }

  async #notifyOf(changed: Feed[]): Promise<void> {
    let stale = changed
    const timeShare = this.#timeBudget.join()
    const wait = () => timeShare.wait()
    try {
      while (stale.length > 0) {
        let isDone = true
        for (const feed of stale) {
          const turn = wait()
          if (turn !== undefined) await turn
          if (!(await feed.notifyNext(wait))) continue
          isDone = false
          await this.#flush(wait)
        }
        stale = isDone ? [] : this.#findStale()
      }
      this.#failures.worked()
    } catch (error) {
      this.#failures.failed(error)
    } finally {
      timeShare.leave()
      this.#notifying = undefined
    }
  }

  async #flush(wait: () => Promise<void> | undefined): Promise<void> {
    for (const sender of this.#takeOutgoing()) {
      const turn = wait()
      if (turn !== undefined) await turn
      sender.flush()
    }
  }
}

/** Resolves when the promise does, at the latest at that time of `performance.now()`. */
async function endsBy(promise: Promise<void>, endMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, endMs - performance.now()))
  })
  await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function registerMetrics(
  metrics: Metrics,
  parts: {
    filters: { count(): number }
    subscribers: { count(): number }
    memory: ListenerMemory
    chain: ChainFeed
    l2: L2Feed
  },
): void {
  const { filters, subscribers, memory, chain, l2 } = parts
  metrics.gauge('cairn_subscriptions', 'Subscriptions of WebSocket clients.', () => subscribers.count())
  metrics.gauge('cairn_filters', 'Filters that clients poll.', () => filters.count())
  metrics.gauge('cairn_filters_bytes', 'Memory of the filters and subscriptions.', () => memory.sizeBytes())
  metrics.counter(
    'cairn_block_changes_total',
    'Added and removed blocks that subscribers and filters were notified of.',
    chain.changes,
  )
  metrics.counter(
    'cairn_l2_block_changes_total',
    'Layer-2 blocks and reorgs that subscribers were notified of.',
    l2.changes,
  )
}
