import { formatData } from '../../lib/hex.js'
import type { Metrics } from '../../lib/metrics.js'
import type { RpcContext } from '../../rpc/core/context.js'
import type { Database } from '../../store/database.js'
import { createSchemaVersion } from '../../store/databaseFacts.js'
import { createGrowthForecast, type GrowthForecast } from '../../store/growthForecast.js'
import { packageVersion } from '../../store/packageVersion.js'
import { readVerification } from '../../store/rows/chainSource.js'
import type { BlockInterval, KnownState } from '../../store/rows/coverage.js'
import type { Gap } from '../../store/rows/types.js'
import type { L2FollowStatus } from '../../sync/follow/l2/status.js'
import type { FollowersStatus } from '../../sync/follow/openFollowers.js'
import type { FollowStatus } from '../../sync/follow/status.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import type { SinkStatus } from '../../sync/sinkStatus.js'
import { findProblem, type Problem } from './problem.js'

/** The body of `/health`. */
export interface HealthReport {
  /** False once the server is stopping. */
  readonly serving: boolean
  /** Why the chain does not grow, from the first of the parts below with a problem; null if none has one. */
  readonly problem: Problem | null
  /** True when all threads have warmed up, so that calls and log queries run at full speed, and the chain is not too
   *  far behind. */
  readonly ready: boolean
  readonly version: string
  readonly schemaVersion: number
  readonly chainId: string | null
  readonly head: { number: number; hash: string } | null
  /** Blocks first to head are available with transactions, receipts and logs, states from `stateFirst` on. `gap`: the
   *  blocks after the head that are still to be fetched; null if there are none. */
  readonly coverage: {
    first: number
    head: number
    stateFirst: number | null
    /** Earlier intervals of blocks with state. */
    closedStates?: readonly BlockInterval[]
    /** Blocks whose states come from access lists. */
    listedStates?: readonly BlockInterval[]
    /** With sparse state: accounts and slots that are known since `stateFirst`. */
    known?: KnownState
    /** With sparse state: the interval whose states are known as a whole, from a state dump; without `last` up to the
     *  newest block. */
    completeState?: { readonly first: number; readonly last?: number }
    gap: Gap | null
  } | null
  /** False for a recording without verified state, and for a development chain with wrong state roots; null before the
   *  first import. */
  readonly verified: boolean | null
  /** The block of a development chain from which on state roots are not compared; null when all are compared. */
  readonly unverifiedFrom: number | null
  readonly l2Head: { number: number; hash: string } | null
  /** Growth of the database, and when its disk is full; null with fewer than two blocks. */
  readonly growth: GrowthForecast | null
  /** Status of following the chain; null without upstreams. */
  readonly following: FollowStatus | null
  /** Status of following the layer-2 chain; null without layer-2 upstreams. */
  readonly l2Following: L2FollowStatus | null
  /** Its part in replication; null if it has none. */
  readonly replication: ReplicationStatus | null
  /** Status of the sink; null without one. */
  readonly sink: SinkStatus | null
  /** Living reader threads including the spare; the warmed-up ones among them; and threads that were terminated or
   *  exited since the start. */
  readonly threads: { living: number; warm: number; lost: number }
  /** Since the start; null without a cache. */
  readonly responseCache: { maxBytes: number; bytes: number; entries: number; hits: number; misses: number } | null
  /** Inline calls on the main thread since the start: answered there, and aborted and handed to a worker thread. Null
   *  when inline calls are off or there were none. */
  readonly inlineCalls: { answered: number; brokenOff: number } | null
}

/** Creates the health report of an open database and the server metrics. @returns a function that throws when the
 *  database cannot be read */
export function createHealthReporter(parts: {
  context: RpcContext
  db: Database
  metrics: Metrics
  isServing: () => boolean
  isReady: () => boolean
  following?: () => FollowersStatus
  replication?: () => ReplicationStatus
  sink?: () => SinkStatus
}): () => HealthReport {
  const { context, db, metrics, isServing, isReady, following, replication, sink } = parts
  const version = packageVersion()
  const schemaVersion = createSchemaVersion(db)
  const forecast = createGrowthForecast(db, context.chain)
  return () => {
    const coverage = context.chain.coverage()
    const head = coverage && context.chain.blockByNumber(coverage.head)
    const l2Head = context.l2.head()
    return {
      serving: isServing(),
      problem: findProblem({ l1: null, l2: null, ...following?.(), replication: replication?.() }),
      ready: isReady(),
      version,
      schemaVersion: schemaVersion(),
      chainId: coverage === undefined ? null : String(context.chain.chainId()),
      head: head ? { number: head.header.number, hash: formatData(head.hash) } : null,
      coverage: coverage
        ? {
            first: coverage.first,
            head: coverage.head,
            stateFirst: coverage.stateFirst ?? null,
            ...(coverage.closedStates && { closedStates: coverage.closedStates }),
            ...(coverage.listedStates && { listedStates: coverage.listedStates }),
            ...(coverage.known && { known: coverage.known }),
            ...(coverage.completeState && { completeState: coverage.completeState }),
            gap: context.chain.gap() ?? null,
          }
        : null,
      ...readVerification(db, context.chain),
      l2Head: l2Head ? { number: l2Head.number, hash: `0x${l2Head.hash.toString(16)}` } : null,
      growth: forecast() ?? null,
      following: following?.().l1 ?? null,
      l2Following: following?.().l2 ?? null,
      replication: replication?.() ?? null,
      sink: sink?.() ?? null,
      ...readFigures(metrics),
    }
  }
}

function readFigures(metrics: Metrics): Pick<HealthReport, 'threads' | 'responseCache' | 'inlineCalls'> {
  const read = (name: string, labels?: { [label: string]: string }) => metrics.value(name, labels) ?? 0
  const living = read('cairn_threads')
  const responses = { cache: 'responses' }
  const hasCache = metrics.value('cairn_cache_entries', responses) !== undefined
  const answered = metrics.value('cairn_inline_calls_total', { outcome: 'answered' })
  return {
    threads: {
      living,
      warm: living - read('cairn_threads', { state: 'starting' }),
      lost: read('cairn_threads_lost_total'),
    },
    responseCache: hasCache
      ? {
          maxBytes: read('cairn_cache_limit_bytes', responses),
          bytes: read('cairn_cache_bytes', responses),
          entries: read('cairn_cache_entries', responses),
          hits: read('cairn_cache_hits_total', responses),
          misses: read('cairn_cache_misses_total', responses),
        }
      : null,
    inlineCalls:
      answered === undefined ? null : { answered, brokenOff: read('cairn_inline_calls_total', { outcome: 'aborted' }) },
  }
}
