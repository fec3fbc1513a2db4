import { createFailureLog, type FailureLog } from '../../lib/failureLog.js'
import type { Logger } from '../../lib/logger.js'
import { createLogger } from '../../lib/logger.js'
import { createMetrics, type Metrics } from '../../lib/metrics.js'
import type { HeadSource, L2SyncProgress, SyncProgress } from '../../rpc/core/context.js'
import type { MethodTable } from '../../rpc/core/method.js'
import { type OpenContext, openContext } from '../../rpc/core/openContext.js'
import { loadMethods } from '../../rpc/loadMethods.js'
import { type Access, createAccess } from '../../server/access/access.js'
import { createRateLimiter, type RateLimiter } from '../../server/access/rateLimit.js'
import { registerDatabaseMetrics } from '../../server/admin/databaseMetrics.js'
import { registerEngineMetrics } from '../../server/admin/engineMetrics.js'
import { registerFollowMetrics, registerStateFetchMetrics } from '../../server/admin/followMetrics.js'
import { registerReplicationMetrics } from '../../server/admin/replicationMetrics.js'
import { registerSinkMetrics } from '../../server/admin/sinkMetrics.js'
import { createTransactionForwarder, type TransactionForwarder } from '../../server/transactionForwarder.js'
import { type ApiKeyReader, createApiKeyReader } from '../../store/keys/apiKeys.js'
import { type OpenDatabaseFile, openDatabaseFile } from '../../store/pages/databaseFile.js'
import type { FollowersStatus } from '../../sync/follow/openFollowers.js'
import type { IngestWorker } from '../../sync/thread/ingestWorker.js'
import type { ServingOptions } from './options.js'

/** The open database of a server, its methods and keys, and where its parts report. */
export interface ServingCore {
  readonly options: ServingOptions
  readonly log: Logger
  readonly metrics: Metrics
  readonly opened: OpenContext
  /** Undefined unless threads read its pages. */
  readonly databaseFile: OpenDatabaseFile | undefined
  readonly methods: MethodTable
  readonly keys: ApiKeyReader
  readonly access: Access
  readonly limiter: RateLimiter
  /** Receives failures to read the database. */
  readonly failures: FailureLog
  /** Undefined unless transactions are forwarded. */
  readonly forwarder: TransactionForwarder | undefined
  /** Calls since the start. */
  readonly served: { count: number; readonly sinceMs: number }
}

/** Opens the database for the main thread. @throws DatabaseMissing, DatabaseOutdated */
export async function openCore(options: ServingOptions): Promise<ServingCore> {
  const log = createLogger(options.logging)
  const forwarder = openForwarder(options, log)
  const served = { count: 0, sinceMs: performance.now() }
  const opened = openMainContext(options, { log, forwarder, served })
  const databaseFile = options.pageReads ? openDatabaseFile(opened.db.name) : undefined
  const methods = await loadMethods(options.methodsModule)
  const keys = createApiKeyReader(opened.db)
  const failures = createFailureLog(log, 'the database')
  const limiter = createRateLimiter()
  const { open, rateLimitRps } = options
  const access = createAccess({ keys, methods, open, rateLimitRps, limiter, failures })
  const metrics = createMetrics()
  registerDatabaseMetrics(metrics, opened)
  registerIngestMetrics(metrics, options.ingest)
  registerSinkMetrics(metrics, () => options.sink?.())
  return { options, log, metrics, opened, databaseFile, methods, keys, access, limiter, failures, forwarder, served }
}

function openForwarder({ forwardTo, ingest }: ServingOptions, log: Logger): TransactionForwarder | undefined {
  return forwardTo && createTransactionForwarder(forwardTo, { log, status: () => ingest?.status().l1?.upstreams ?? [] })
}

function openMainContext(
  { datadir, limits, compatibility, cursorSecret, ingest }: ServingOptions,
  { log, forwarder, served }: Pick<ServingCore, 'log' | 'forwarder' | 'served'>,
): OpenContext {
  return openContext({
    datadir,
    limits,
    compatibility,
    log,
    cursorSecret,
    syncProgress: ingest && (() => readSyncProgress(ingest.status().l1)),
    l2SyncProgress: ingest && (() => readL2SyncProgress(ingest.status().l2)),
    upstreamPending: ingest?.pending,
    replication: ingest?.replication,
    headSource: ingest && headSourceOf(ingest),
    forwardTransaction: forwarder?.forward,
    mainThread: true,
    calls: served,
  })
}

function headSourceOf({ engine, replication, status }: IngestWorker): HeadSource | undefined {
  if (engine) return 'consensus client'
  const role = replication?.()?.role
  if (role === 'replica' || role === 'standby') return 'replication'
  return status().l1 ? 'upstreams' : undefined
}

function registerIngestMetrics(metrics: Metrics, ingest: IngestWorker | undefined): void {
  if (ingest?.status().l1) {
    registerFollowMetrics(metrics, () => ingest.status().l1!)
    registerStateFetchMetrics(metrics, () => ingest.status().l1!)
  }
  if (ingest?.engine) registerEngineMetrics(metrics, () => ingest.status().l1!.engine!)
  if (ingest?.status().l2) registerFollowMetrics(metrics, () => ingest.status().l2!, 'cairn_l2')
  registerReplicationMetrics(metrics, () => ingest?.replication?.())
}

function readSyncProgress(status: FollowersStatus['l1']): SyncProgress | undefined {
  if (status?.state !== 'syncing') return undefined
  return { startingBlock: status.syncStart!, highestBlock: status.upstreamBlock! }
}

function readL2SyncProgress(status: FollowersStatus['l2']): L2SyncProgress | undefined {
  const progress = readSyncProgress(status)
  return progress && { ...progress, highestHash: status!.upstreamHash! }
}
