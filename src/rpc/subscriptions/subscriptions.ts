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
import { type ConnectedSubscriber, createSubscribers, type Link } from './subscribers.js'
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

/** Reason for disconnecting subscribers. */
const MISSED = 'some changes of the chain were missed; subscribe again'

/** Subscriptions and filters over the connection of the main thread. Notifies of changes one after another, within the
 *  time of `timeBudget`. */
export function createSubscriptions(options: {
  db: Database
  timeBudget: TimeBudget
  limits: SubscriptionLimits
  failures: FailureLog
  metrics: Metrics
  log: Logger
}): Subscriptions {
  const { db, timeBudget, limits, failures, metrics, log } = options
  const registry = createSubscriptionRegistry()
  const chain = createChainFeed(db, registry, {
    onMissed: (error) => {
      log.warn({ subscriptions: subscribers.count(), filters: filters.count() }, error.message)
      filters.clear()
      subscribers.cutOff(MISSED)
    },
  })
  const l2 = createL2Feed(db)
  /** Feeds with listeners, and whether each has started. */
  const wanted = new Map<Feed, boolean>()
  let isTelling = false
  let looking: NodeJS.Timeout | undefined
  const mark = (): ChainMark => {
    begin(chain)
    return wanted.get(chain) ? chain.mark() : EVERYTHING
  }
  const begunL2 = () => {
    begin(l2)
    return l2
  }
  const memory = new ListenerMemory(limits)
  const filters = new Filters(registry, { limits, memory, mark })
  const subscribers = createSubscribers({ registry, mark, l2: begunL2 }, { limits, memory })
  const sweeping = setInterval(() => filters.sweep(), SWEEP_MS).unref()
  registerMetrics(metrics, { filters, subscribers, memory, chain, l2 })

  /** Starts polling for changes of a feed, unless started already. */
  const begin = (feed: Feed) => {
    looking ??= setInterval(look, LOOK_MS).unref()
    if (!wanted.get(feed)) start(feed)
  }
  const look = () => {
    for (const [feed, isStarted] of wanted) {
      if (feed.size() === 0) wanted.delete(feed)
      else if (!isStarted) start(feed)
    }
    if (wanted.size === 0) stop()
    else if (!isTelling) void notifyChanges()
  }
  const stop = () => {
    clearInterval(looking)
    looking = undefined
    wanted.clear()
  }
  /** The feed stays unstarted while the database cannot be read. */
  const start = (feed: Feed) => {
    wanted.set(feed, false)
    try {
      feed.start()
      wanted.set(feed, true)
    } catch (error) {
      failures.failed(error)
    }
  }
  const findStale = () => [...wanted].filter(([feed, isStarted]) => isStarted && feed.isStale()).map(([feed]) => feed)
  const notifyChanges = async () => {
    let stale = findStale()
    if (stale.length === 0) return
    isTelling = true
    const timeShare = timeBudget.join()
    const wait = () => timeShare.wait()
    try {
      while (stale.length > 0) {
        let isDone = true
        for (const feed of stale) {
          const turn = wait()
          if (turn !== undefined) await turn
          if (!(await feed.notifyNext(wait))) continue
          isDone = false
          await flush(wait)
        }
        stale = isDone ? [] : findStale()
      }
      failures.worked()
    } catch (error) {
      failures.failed(error)
    } finally {
      timeShare.leave()
      isTelling = false
    }
  }
  const flush = async (wait: () => Promise<void> | undefined) => {
    for (const sender of subscribers.takeOutgoing()) {
      const turn = wait()
      if (turn !== undefined) await turn
      sender.flush()
    }
  }
  return {
    filtersOf: (client) => filters.of(client),
    connect: subscribers.connect,
    close() {
      stop()
      clearInterval(sweeping)
    },
  }
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
