import type { AddressInfo, Server } from 'node:net'
import { logCrypto } from '../chain/crypto.js'
import { createBudget } from '../evm/calls/budget.js'
import type { EvmKind } from '../evm/kinds.js'
import { keepFresh } from '../index/transactions/keepFresh.js'
import { CairnError, messageOf } from '../lib/errors.js'
import { createFailureLog } from '../lib/failureLog.js'
import { collectGarbageWhenQuiet, reduceGcFrequency } from '../lib/garbageCollection.js'
import { createLogger, type LogSettings } from '../lib/logger.js'
import { createMetrics, type Metrics } from '../lib/metrics.js'
import type { ReplicationLimits } from '../replication/http/replicationLimits.js'
import type { Compatibility, L2SyncProgress, RpcLimits, SyncProgress } from '../rpc/core/context.js'
import { createDispatcher, type InlineRunner, MAX_MAIN_THREAD_BYTES } from '../rpc/core/dispatch.js'
import type { MethodTable } from '../rpc/core/method.js'
import { type OpenContext, openContext } from '../rpc/core/openContext.js'
import { createResponseCache } from '../rpc/core/responseCache.js'
import { loadMethods } from '../rpc/loadMethods.js'
import type { SubscriptionLimits } from '../rpc/subscriptions/limits.js'
import { createSubscriptions } from '../rpc/subscriptions/subscriptions.js'
import { warmCalls } from '../rpc/warmUp.js'
import { createAccess, KEY_INVALID } from '../server/access/access.js'
import { type CorsPolicy, isLoopback } from '../server/access/cors.js'
import type { HostPolicy } from '../server/access/hosts.js'
import { KeyWatch } from '../server/access/keyWatch.js'
import { openAccounting } from '../server/accounting/openAccounting.js'
import { measureCalls } from '../server/admin/callMetrics.js'
import { registerDatabaseMetrics } from '../server/admin/databaseMetrics.js'
import { registerFollowMetrics } from '../server/admin/followMetrics.js'
import { createHealthReporter } from '../server/admin/healthReport.js'
import { createLagCheck } from '../server/admin/lag.js'
import { registerReplicationMetrics } from '../server/admin/replicationMetrics.js'
import { createAdmission } from '../server/admission/admission.js'
import { createInlineCalls } from '../server/admission/inlineCalls.js'
import { createInlinePolicy, type ThreadLoad } from '../server/admission/inlinePolicy.js'
import type { ServerLimits } from '../server/admission/limits.js'
import { createRefusalCounter } from '../server/admission/refusals.js'
import { createHeadTracker } from '../server/head/headTracker.js'
import type { CompressionPolicy } from '../server/http/compression.js'
import { createHttpServer } from '../server/http/httpServer.js'
import { createPage } from '../server/page/page.js'
import type { SqlLimits } from '../server/sql/sqlLimits.js'
import { createTransactionForwarder } from '../server/transactionForwarder.js'
import { attachWebSocket } from '../server/websocket/websocketServer.js'
import type { UpstreamAddress } from '../sources/upstreams/types.js'
import { createDatabaseProbe } from '../store/databaseProbe.js'
import { createApiKeyReader } from '../store/keys/apiKeys.js'
import { createShortBodies } from '../store/rows/shortBodies.js'
import type { FollowersStatus } from '../sync/follow/openFollowers.js'
import type { IngestWorker } from '../sync/thread/ingestWorker.js'
import { ReaderPool } from '../workers/pool/readerPool.js'

/** Accept queue of the listener; each event-loop turn accepts one connection. Clients beyond the limit retry after 1 s.
 *  The system may allow fewer (`net.core.somaxconn`); Node's default is 511. */
const BACKLOG = 2048

/** Time that a stopping server waits for requests in flight. Their threads then have 1 s to stop: 5 s in all, half of
 *  what `docker stop` waits before it kills. */
const STOP_MS = 3_500

/** Maximum time to warm up inline calls. */
const INLINE_WARM_MS = 50

/** Options of a server. */
export interface ServingOptions {
  readonly datadir: string
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly open: boolean
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  readonly compression: CompressionPolicy
  /** Read plain POSTs without Node's HTTP parser. */
  readonly plainHttp: boolean
  /** Size of the response cache in bytes; 0: disabled. */
  readonly responseCacheBytes: number
  /** Run small calls on the main thread, with Cairn's interpreter. */
  readonly inlineCalls: boolean
  readonly rateLimitRps: number
  /** Where requests are logged: a file, or `-` for standard output. */
  readonly accessLog?: string
  /** Days for which key usage is kept; 0: not counted. */
  readonly usageDays: number
  /** 32 bytes that authenticate log cursors; default: the secret in the database. */
  readonly cursorSecret?: Uint8Array
  readonly metrics: MetricsOptions
  /** Serve the web explorer. */
  readonly page: boolean
  /** Limits of all clients together. */
  readonly serverLimits: ServerLimits
  /** Limits of subscriptions and filters. */
  readonly subscriptionLimits: SubscriptionLimits
  readonly scanThreads: number
  readonly evmThreads: number
  /** The interpreter for calls. */
  readonly evm: EvmKind
  readonly limits: RpcLimits
  readonly compatibility: Compatibility
  readonly logging: LogSettings
  /** Worker that follows the upstreams, if any; closed with the server. */
  readonly ingest?: IngestWorker
  /** Max lag in blocks at which `/ready` answers 200, as in `createLagCheck`. */
  readonly maxLag?: number
  /** Max lag of a replica in seconds at which `/ready` answers 200. */
  readonly maxLagSeconds?: number
  /** Serve SQL with these limits; undefined: not served. */
  readonly sql?: SqlLimits
  /** Serve replicas with these limits; undefined: not served. */
  readonly replication?: ReplicationLimits
  /** The upstreams of `ingest`, if transactions are forwarded to them. */
  readonly forwardTo?: readonly UpstreamAddress[]
  /** URL of a module that exports a method table as `METHODS`, in place of Cairn's own. */
  readonly methodsModule?: string
}

/** Where metrics are served; default: nowhere. */
export interface MetricsOptions {
  /** At `/metrics` of the main port. */
  readonly onRpcPort: boolean
  /** At `/metrics` of a port that otherwise serves only `/health` and `/ready`. */
  readonly ownPort: { readonly host: string; readonly port: number; readonly hosts: HostPolicy } | undefined
}

/** Listening on a port failed; `cause` has the system's `code`. */
export class ListenFailed extends CairnError {
  readonly host: string
  readonly port: number
  /** The options that name the port. */
  readonly options: 'calls' | 'metrics'
  constructor(address: { host: string; port: number; options: ListenFailed['options'] }, cause: Error) {
    super(`cannot listen on ${address.host} port ${address.port}: ${cause.message}`, { cause })
    this.host = address.host
    this.port = address.port
    this.options = address.options
  }
}

/** A running server. */
export interface Serving {
  readonly url: string
  /** Undefined unless metrics have a port of their own. */
  readonly metricsUrl: string | undefined
  /** False if calls need a key and no key exists. */
  readonly reachable: boolean
  /** False if the database has no blocks of any chain. */
  readonly hasBlocks: boolean
  readonly pool: ReaderPool
  /** Resolves once every thread is warm, so that the first call and the first log query are as fast as later ones. Also
   *  resolves if the server is closed first. From then on `/ready` answers 200. */
  warm(): Promise<void>
  /** Refuses new requests, finishes those in flight, and stops within 5 s. */
  close(): Promise<void>
}

/** Opens the database of `datadir`, its reader threads and the port. Resolves when requests are accepted; those for
 *  threads wait until the first thread is warm. @throws DatabaseMissing, ListenFailed */
export async function startServing(options: ServingOptions): Promise<Serving> {
  reduceGcFrequency()
  const log = createLogger(options.logging)
  const { datadir, limits, compatibility, ingest, forwardTo } = options
  const forwarder =
    forwardTo && createTransactionForwarder(forwardTo, { log, status: () => ingest?.status().l1?.upstreams ?? [] })
  const syncProgress = ingest && (() => readSyncProgress(ingest.status().l1))
  const l2SyncProgress = ingest && (() => readL2SyncProgress(ingest.status().l2))
  const upstreamPending = ingest?.pending
  const served = { count: 0, sinceMs: performance.now() }
  const opened = openContext({
    ...{ datadir, limits, compatibility, log, syncProgress, l2SyncProgress, upstreamPending },
    replication: ingest?.replication,
    cursorSecret: options.cursorSecret,
    forwardTransaction: forwarder?.forward,
    mainThread: true,
    calls: served,
  })
  const { context, db, watch, close: closeContext } = opened
  const methods = await loadMethods(options.methodsModule)
  const keys = createApiKeyReader(db)
  let serving = true
  let warm = false
  const failures = createFailureLog(log, 'the database')
  const access = createAccess({ keys, open: options.open, rateLimitRps: options.rateLimitRps, failures })
  let pool: ReaderPool | undefined
  const remote = { run: (...call: Parameters<ReaderPool['run']>) => pool!.run(...call) }
  const { cors, hosts, compression, plainHttp, responseCacheBytes } = options
  const metrics = createMetrics()
  registerDatabaseMetrics(metrics, { context, db })
  if (ingest?.status().l1) registerFollowMetrics(metrics, () => ingest.status().l1!)
  if (ingest?.status().l2) registerFollowMetrics(metrics, () => ingest.status().l2!, 'cairn_l2')
  registerReplicationMetrics(metrics, () => ingest?.replication?.())
  const cache = responseCacheBytes > 0 ? createResponseCache({ maxBytes: responseCacheBytes, metrics }) : undefined
  let inlineCalls: InlineRunner | undefined
  const inline: InlineRunner = { run: (...call) => inlineCalls?.run(...call) }
  const runsInline = options.inlineCalls && options.evm === 'cairn'
  const { withSnapshot } = watch
  const dispatch = {
    methods,
    context,
    remote,
    log,
    cache,
    inline: runsInline ? inline : undefined,
    withSnapshot,
    shortBodies: createShortBodies(context.chain, db, MAX_MAIN_THREAD_BYTES),
    served,
  }
  const lag = createLagCheck({
    ...{
      replication: () => ingest?.replication?.(),
      following: () => ingest?.status().l1 ?? ingest?.status().l2 ?? null,
    },
    maxLag: options.maxLag,
    maxLagSeconds: options.maxLagSeconds,
  })
  const ready = () => serving && warm && lag() === undefined
  metrics.gauge('cairn_ready', '1 while calls are answered as fast as they will be.', () => Number(ready()))
  const health = {
    report: createHealthReporter({
      ...{ context, db, metrics, isReady: ready, following: ingest?.status, replication: ingest?.replication },
      isServing: () => serving,
    }),
    problem: createDatabaseProbe(db, options.datadir),
    lag,
  }
  const { onRpcPort, ownPort } = options.metrics
  const isMeasured = onRpcPort || ownPort !== undefined
  const page = isMeasured ? (await import('../server/admin/metricsPage.js')).createMetricsPage(metrics) : undefined
  const calls = createDispatcher(dispatch)
  const dispatcher = isMeasured ? measureCalls(calls, methods, metrics) : calls
  const accounting = openAccounting(options, { methods, metrics, log })
  const subscriptions = createSubscriptions({
    ...{ db, timeBudget: calls.timeBudget!, limits: options.subscriptionLimits, failures, metrics, log },
  })
  const admission = createAdmission(options.serverLimits, (method) => methods.get(method)?.cost, metrics)
  const head = createHeadTracker({ chain: context.chain, watch }, options.serverLimits.minBlockWaitMs)
  const reach = { access, admission, head, limits: options.serverLimits, cors, hosts, plainHttp, metrics }
  const refusals = createRefusalCounter(metrics)
  const metricsPage = onRpcPort ? page : undefined
  const serverOptions = {
    dispatcher,
    subscriptions,
    ...reach,
    refusals,
    compression,
    health,
    metricsPage,
    page: options.page ? createPage() : undefined,
    failures,
    accounting,
    log,
    keyWatch: new KeyWatch(keys, failures),
  }
  const openReplication = async (limits: ReplicationLimits) => {
    const { createReplicationEndpoint } = await import('../replication/http/replicationEndpoint.js')
    const { ReplicationWorker } = await import('../replication/threads/replicationWorker.js')
    const feed = new ReplicationWorker(datadir, log)
    return { feed, endpoint: createReplicationEndpoint({ feed, limits, access, count: refusals.count }) }
  }
  const sql =
    options.sql &&
    (await import('../server/sql/sqlEndpoint.js')).createSqlEndpoint({
      ...{ datadir, limits: options.sql, access, admission, cors, count: refusals.count },
    })
  const replication = options.replication && (await openReplication(options.replication))
  const { keyWatch } = serverOptions
  keyWatch.onChange(() => {
    sql?.endRevoked()
    replication?.endpoint.endRevoked()
    for (const client of pool?.clients() ?? []) {
      if (typeof client === 'number' && !access.isLive({ keyId: client })) pool?.abort(client, KEY_INVALID.error)
    }
  })
  const http = createHttpServer({ ...serverOptions, sql, replication: replication?.endpoint })
  const { server } = http
  const sockets = attachWebSocket(http, serverOptions)
  const notFound = 'not found; this port serves /metrics, /health and /ready'
  const admin =
    ownPort &&
    (await import('../server/admin/adminPort.js')).createAdminServer({
      hosts: ownPort.hosts,
      health,
      metricsPage: page,
      notFound,
    })
  try {
    if (admin !== undefined) await listen(admin, ownPort!, 'metrics')
    await listen(server, options, 'calls')
  } catch (error) {
    sockets.close()
    keyWatch.close()
    server.close()
    sql?.close()
    admin?.close()
    subscriptions.close()
    closeContext()
    await accounting?.close()
    throw error
  }
  const metricsUrl = admin && `${formatUrl(admin.address() as AddressInfo)}/metrics`
  if (metricsUrl !== undefined) log.info({ url: metricsUrl }, 'serving metrics')
  logCrypto(log)
  // Started after the port is open, because starting threads keeps the process busy.
  const started = new ReaderPool({ ...options, log, metrics, onRest: collectGarbageWhenQuiet })
  pool = started
  const stopRefreshing = keepFresh(context.transactions, log)
  const startInlineCalls = async () => {
    const load = { jobs: () => started.pendingCalls(), threads: options.evmThreads }
    try {
      inlineCalls = await openInlineCalls(opened, methods, { load, metrics })
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'calls run in threads only')
    }
  }
  // Runs in parallel with the threads: requests before readiness wait at most for the slower of the two.
  const warmedUp = Promise.all([started.warm(), runsInline && startInlineCalls()]).then(() => {
    warm = true
  })

  let closing: Promise<void> | undefined
  const close = async () => {
    serving = false
    replication?.endpoint.close()
    const ingestEnds = ingest?.close()
    sockets.close()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    http.closeIdle()
    const deadline = setTimeout(() => {
      sockets.terminate()
      http.closeAll()
    }, STOP_MS)
    // The server does not check again whether busy connections have become idle.
    const sweep = setInterval(() => http.closeIdle(), 100)
    await closed
    // Until here the admin port reports that the server is stopping.
    admin?.close()
    admin?.closeAllConnections()
    clearTimeout(deadline)
    clearInterval(sweep)
    keyWatch.close()
    sql?.close()
    head.close()
    await Promise.all([started.close(), replication?.feed.close(), ingestEnds])
    await warmedUp
    stopRefreshing()
    subscriptions.close()
    forwarder?.close()
    closeContext()
    await accounting?.close()
  }
  return {
    url: formatUrl(server.address() as AddressInfo),
    metricsUrl,
    reachable: options.open || keys.hasAny(),
    hasBlocks: context.chain.coverage() !== undefined || context.l2.head() !== undefined,
    pool: started,
    warm: () => warmedUp,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

function readSyncProgress(status: FollowersStatus['l1']): SyncProgress | undefined {
  if (status?.state !== 'syncing') return undefined
  return { startingBlock: status.syncStart!, highestBlock: status.upstreamBlock! }
}

function readL2SyncProgress(status: FollowersStatus['l2']): L2SyncProgress | undefined {
  const progress = readSyncProgress(status)
  return progress && { ...progress, highestHash: status!.upstreamHash! }
}

/** Creates the runner of small calls on the main thread, over its connection, and warms it up. */
async function openInlineCalls(
  opened: OpenContext,
  methods: MethodTable,
  { load, metrics }: { load: ThreadLoad; metrics: Metrics },
): Promise<InlineRunner> {
  const budget = createBudget()
  const evm = await opened.loadBudgetedEvm(budget)
  const { context } = opened
  budget.begin(INLINE_WARM_MS)
  await warmCalls(methods, { ...context, evm, deadline: budget.deadline })
  const policy = createInlinePolicy(load)
  return createInlineCalls({ context, evm, budget, policy, metrics })
}

/** @throws ListenFailed */
function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  options: ListenFailed['options'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(new ListenFailed({ host, port, options }, cause))
    server.once('error', fail)
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

function formatUrl({ address, family, port }: AddressInfo): string {
  if (isLoopback(address) && address !== '::1') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
