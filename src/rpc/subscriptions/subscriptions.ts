import type { FailureLog } from '../../lib/failureLog.js'
import type { Logger } from '../../lib/logger.js'
import type { Metrics } from '../../lib/metrics.js'
import {
  type BlockChange,
  type ChainMark,
  ChangesMissed,
  createChainFollower,
  EVERYTHING,
} from '../../store/chain/chainFollower.js'
import type { Database } from '../../store/database.js'
import type { ClientFilters } from '../core/session.js'
import type { TimeSlices } from '../core/timeSlices.js'
import { createAudience, NewHead } from './audience.js'
import { type Client, createFilters } from './filters.js'
import type { SubscriptionLimits } from './limits.js'
import { wantsBlock } from './logCriteria.js'
import { type ConnectedSubscriber, createSubscribers, type Link } from './subscribers.js'

/** Tells clients what happens to the chain. */
export interface Subscriptions {
  filtersOf(client: Client): ClientFilters
  connect(client: Client, link: Link): ConnectedSubscriber
  close(): void
}

/** How often the database is asked for commits of others while there is anybody to be told: 3 µs each. */
const LOOK_MS = 3
const SWEEP_MS = 1_000

/** Reason for cutting subscribers off. */
const MISSED = 'some changes of the chain were missed; subscribe again'

/** Subscriptions and filters over the connection of the main thread. Changes are told in the time that `slices` share, one block
 *  after another: each is matched once against all listeners. */
export function createSubscriptions(options: {
  db: Database
  slices: TimeSlices
  limits: SubscriptionLimits
  failures: FailureLog
  metrics: Metrics
  log: Logger
}): Subscriptions {
  const { db, slices, limits, failures, metrics, log } = options
  const follower = createChainFollower(db)
  const audience = createAudience()
  let changes = 0
  let isTelling = false
  let isStarted = false
  let looking: NodeJS.Timeout | undefined
  const mark = (): ChainMark => {
    look()
    return isStarted ? follower.mark() : EVERYTHING
  }
  const filters = createFilters(audience, { limits, mark })
  const subscribers = createSubscribers(audience, { limits, mark })
  const sweeping = setInterval(() => filters.sweep(), SWEEP_MS).unref()
  registerMetrics(metrics, { filters, subscribers, changes: () => changes })

  /** Begins to look for changes, unless that is done already. */
  const look = () => {
    if (looking !== undefined) return
    looking = setInterval(() => {
      if (audience.size() === 0) return stop()
      if (!isTelling && start()) void tellChanges()
    }, LOOK_MS).unref()
    start()
  }
  const stop = () => {
    clearInterval(looking)
    looking = undefined
    isStarted = false
  }
  /** False while the database cannot be read. */
  const start = () => {
    try {
      if (!isStarted) follower.start()
      isStarted = true
    } catch (error) {
      failures.failed(error)
    }
    return isStarted
  }
  const tellChanges = async () => {
    if (!follower.isStale()) return
    isTelling = true
    const slice = slices.join()
    try {
      while (isStarted && follower.isStale()) {
        const turn = slice.wait()
        if (turn !== undefined) await turn
        const change = follower.next()
        if (change !== undefined) await tell(change, () => slice.wait())
      }
      failures.worked()
    } catch (error) {
      if (error instanceof ChangesMissed) giveUp(error)
      else failures.failed(error)
    } finally {
      slice.leave()
      isTelling = false
    }
  }
  const tell = async (change: BlockChange, wait: () => Promise<void> | undefined) => {
    const { kind, block, logs } = change
    changes++
    if (kind === 'added') {
      const head = new NewHead(block)
      for (const listener of audience.heads) {
        const turn = wait()
        if (turn !== undefined) await turn
        if (listener.mark.precedes(change)) listener.takeHead(head)
      }
    }
    const place = kind === 'added' ? { number: block.header.number, hash: block.hash } : block
    if (audience.logs.size() > 0) {
      for (const entry of logs) {
        const turn = wait()
        if (turn !== undefined) await turn
        audience.logs.match(entry, (listener) => {
          if (listener.mark.precedes(change) && wantsBlock(listener.topic.criteria, place)) listener.takeLog(entry)
        })
      }
    }
    for (const sender of subscribers.takeOutgoing()) {
      const turn = wait()
      if (turn !== undefined) await turn
      sender.flush()
    }
  }
  const giveUp = (error: ChangesMissed) => {
    log.warn({ subscriptions: subscribers.count(), filters: filters.count() }, error.message)
    follower.start()
    filters.clear()
    subscribers.cutOff(MISSED)
  }
  return {
    filtersOf: filters.of,
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
    filters: { count(): number; sizeBytes(): number }
    subscribers: { count(): number }
    changes(): number
  },
): void {
  const { filters, subscribers, changes } = parts
  metrics.gauge('cairn_subscriptions', 'Subscriptions of WebSocket clients.', () => subscribers.count())
  metrics.gauge('cairn_filters', 'Filters that clients poll.', () => filters.count())
  metrics.gauge('cairn_filters_bytes', 'Memory of the filters.', () => filters.sizeBytes())
  metrics.counter('cairn_block_changes_total', 'Added and removed blocks told to subscribers and filters.', changes)
}
