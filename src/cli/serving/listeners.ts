import type { Server } from 'node:http'
import type { Metrics } from '../../lib/metrics.js'
import type { ReplicationEndpoint } from '../../replication/http/replicationEndpoint.js'
import type { ReplicationWorker } from '../../replication/threads/replicationWorker.js'
import type { TimeBudget } from '../../rpc/core/timeBudget.js'
import { createSubscriptions } from '../../rpc/subscriptions/subscriptions.js'
import type { Acceptors } from '../../server/acceptors/acceptors.js'
import { KeyWatch } from '../../server/access/keyWatch.js'
import { openAccounting } from '../../server/accounting/openAccounting.js'
import type { HealthSource } from '../../server/admin/adminApp.js'
import { measureCalls } from '../../server/admin/callMetrics.js'
import { createHealthReporter } from '../../server/admin/healthReport.js'
import { createLagCheck } from '../../server/admin/lag.js'
import type { MetricsPage } from '../../server/admin/metricsPage.js'
import { createAdmission } from '../../server/admission/admission.js'
import { createRefusalCounter } from '../../server/admission/refusals.js'
import { connectionSlotMemory, shareConnectionSlots } from '../../server/connections/connections.js'
import type { ServerOptions } from '../../server/exchange.js'
import { createHeadTracker } from '../../server/head/headTracker.js'
import { createHttpServer, type HttpServer } from '../../server/http/httpServer.js'
import { createPage } from '../../server/page/page.js'
import type { SqlEndpoint } from '../../server/sql/sqlEndpoint.js'
import { type BulkEndpoint, createStreamEndpoint } from '../../server/stream/streamEndpoint.js'
import { attachWebSocket, type WebSocketSide } from '../../server/websocket/websocketServer.js'
import { createDatabaseProbe } from '../../store/databaseProbe.js'
import type { ServingCore } from './core.js'
import type { ServingOptions } from './options.js'
import type { ServedCalls } from './servedCalls.js'

/** What every listener of a server uses. */
type ListenerOptions = ReturnType<typeof createListenerOptions>

/** The listeners of a server, not listening yet. */
export interface Listeners {
  readonly http: HttpServer
  readonly sockets: WebSocketSide
  /** Serves metrics on a port of their own. */
  readonly admin: Server | undefined
  /** Serves a consensus client. */
  readonly engine: Server | undefined
  readonly sql: SqlEndpoint | undefined
  readonly bulk: BulkEndpoint | undefined
  /** Accept connections on the port for calls beside `http`; undefined without threads for that. */
  readonly acceptors: Acceptors | undefined
  readonly replication: { readonly feed: ReplicationWorker; readonly endpoint: ReplicationEndpoint } | undefined
  readonly shared: ListenerOptions
}

/** Creates the listeners and the threads and processes of their streams. `isServing` is false once the server stops. */
export async function createListeners(
  core: ServingCore,
  calls: ServedCalls,
  isServing: () => boolean,
): Promise<Listeners> {
  const { options, metrics } = core
  const { onRpcPort, ownPort } = options.metrics
  let acceptors: Acceptors | undefined
  const health = createHealth(core, calls, isServing)
  const isMeasured = onRpcPort || ownPort !== undefined
  const page = isMeasured ? await openMetricsPage(metrics, () => acceptors?.refresh()) : undefined
  const shares = shareLimits(options)
  const { dispatcher } = calls
  const shared = createListenerOptions(core, {
    dispatcher: isMeasured ? measureCalls(dispatcher, core.methods, metrics) : dispatcher,
    timeBudget: dispatcher.timeBudget!,
    health,
    metricsPage: onRpcPort ? page : undefined,
    connectionSlots: shares && shareConnectionSlots(shares.connectionSlots, 0),
    limits: shares?.main ?? options.serverLimits,
  })
  const sql = await openSql(core, shared)
  const bulk = openBulk(core, calls, shared)
  const replication = await openReplication(core, shared)
  shared.keyWatch.onChange(() => {
    sql?.endRevoked()
    bulk?.endRevoked()
    replication?.endpoint.endRevoked()
    calls.endRevoked()
  })
  const server = { ...shared, sql, bulk, replication: replication?.endpoint }
  const http = createHttpServer(server)
  acceptors = await openAcceptors(core, { http, server, shares })
  const sockets = attachWebSocket(http, shared)
  const admin = await createAdmin(core, health, page)
  const engine = await openEngineServer(core, calls)
  return { http, sockets, admin, engine, sql, bulk, acceptors, replication, shared }
}

async function openMetricsPage(metrics: Metrics, refresh: () => Promise<void> | undefined): Promise<MetricsPage> {
  const { createMetricsPage } = await import('../../server/admin/metricsPage.js')
  return createMetricsPage(metrics, refresh)
}

function createHealth(core: ServingCore, calls: ServedCalls, isServing: () => boolean): HealthSource {
  const { options, opened, metrics } = core
  const { ingest, maxLag, maxLagSeconds } = options
  const lag = createLagCheck({
    replication: () => ingest?.replication?.(),
    following: () => ingest?.status().l1 ?? ingest?.status().l2 ?? null,
    maxLag,
    maxLagSeconds,
  })
  const isReady = () => isServing() && calls.isWarm && lag() === undefined
  metrics.gauge('cairn_ready', '1 while calls are answered as fast as they will be.', () => Number(isReady()))
  const report = createHealthReporter({
    context: opened.context,
    db: opened.db,
    metrics,
    isServing,
    isReady,
    following: ingest?.status,
    replication: ingest?.replication,
    sink: options.sink,
  })
  return { report, problem: createDatabaseProbe(opened.db, options.datadir), lag }
}

function createListenerOptions(
  { options, log, metrics, opened, methods, keys, access, failures }: ServingCore,
  calls: Pick<ServerOptions, 'dispatcher' | 'health' | 'metricsPage' | 'connectionSlots' | 'limits'> & {
    timeBudget: TimeBudget
  },
) {
  const { cors, hosts, plainHttp, compression } = options
  const { timeBudget, ...parts } = calls
  const { limits } = parts
  const { db, context, watch } = opened
  // Metrics appear in the order in which these parts register them.
  return {
    ...parts,
    accounting: openAccounting(options, { methods, metrics, log }),
    subscriptions: createSubscriptions({ db, timeBudget, limits: options.subscriptionLimits, failures, metrics, log }),
    admission: createAdmission(limits, methods, metrics),
    head: createHeadTracker({ chain: context.chain, watch }, limits.minBlockWaitMs),
    refusals: createRefusalCounter(metrics),
    page: options.page ? createPage() : undefined,
    keyWatch: new KeyWatch(keys, failures),
    access,
    cors,
    hosts,
    plainHttp,
    compression,
    metrics,
    failures,
    log,
  }
}

/** Limits of the main thread and of each acceptor thread, which are together those of the server; undefined without
 *  acceptor threads. */
function shareLimits({ acceptThreads, serverLimits }: ServingOptions) {
  if (acceptThreads === 0) return undefined
  const { bodyBytes, outputBytes } = serverLimits
  // The main thread answers what is large.
  const part = 1 / (4 * acceptThreads)
  return {
    main: { ...serverLimits, bodyBytes: (bodyBytes * 3) / 4, outputBytes: (outputBytes * 3) / 4 },
    acceptor: { ...serverLimits, bodyBytes: bodyBytes * part, outputBytes: outputBytes * part },
    connectionSlots: connectionSlotMemory(1 + acceptThreads),
  }
}

async function openAcceptors(
  core: ServingCore,
  { http, server, shares }: { http: HttpServer; server: ServerOptions; shares: ReturnType<typeof shareLimits> },
): Promise<Acceptors | undefined> {
  if (shares === undefined) return undefined
  const { options, limiter, served } = core
  const { datadir, open, rateLimitRps, cors, hosts, compression, limits, compatibility, logging } = options
  const { methodsModule, cursorSecret, acceptThreads } = options
  const { createAcceptors } = await import('../../server/acceptors/acceptors.js')
  return createAcceptors({
    count: acceptThreads,
    data: {
      ...{ datadir, open, rateLimitRps, cors, hosts, compression, limits, compatibility, logging },
      ...{ methodsModule, cursorSecret },
      serverLimits: shares.acceptor,
      connectionSlots: shares.connectionSlots,
      responseCacheBytes: options.responseCacheBytes / (acceptThreads + 1),
      inlineCalls: options.inlineCalls && options.evm === 'cairn',
      hasStreams: server.bulk !== undefined,
      records: {
        accessLog: server.accounting?.accessLog !== undefined,
        usage: server.accounting?.usage !== undefined,
      },
    },
    http,
    server,
    limiter,
    onCalls: (count) => {
      served.count += count
    },
  })
}

async function openSql({ options, access }: ServingCore, shared: ListenerOptions): Promise<SqlEndpoint | undefined> {
  const { datadir, sql: limits, sqlLake: lake, cors } = options
  if (limits === undefined) return undefined
  const { createSqlEndpoint } = await import('../../server/sql/sqlEndpoint.js')
  const { admission, refusals } = shared
  return createSqlEndpoint({ datadir, lake, limits, access, admission, cors, count: refusals.count })
}

function openBulk(
  { options, access, metrics }: ServingCore,
  { remote }: ServedCalls,
  { admission, refusals }: ListenerOptions,
): BulkEndpoint | undefined {
  const { stream: limits, limits: requests } = options
  if (limits === undefined) return undefined
  const maxParams = requests.maxFilterParams
  return createStreamEndpoint({ limits, maxParams, access, admission, remote, metrics, count: refusals.count })
}

async function openReplication(core: ServingCore, { refusals }: ListenerOptions): Promise<Listeners['replication']> {
  const { options, access, log } = core
  const { datadir, replication: limits } = options
  if (limits === undefined) return undefined
  const { createReplicationEndpoint } = await import('../../replication/http/replicationEndpoint.js')
  const { ReplicationWorker } = await import('../../replication/threads/replicationWorker.js')
  const feed = new ReplicationWorker(datadir, log)
  return { feed, endpoint: createReplicationEndpoint({ feed, limits, access, count: refusals.count }) }
}

async function openEngineServer(
  { options, metrics }: ServingCore,
  { dispatcher }: ServedCalls,
): Promise<Server | undefined> {
  const { engine, ingest } = options
  if (engine === undefined) return undefined
  const { createEngineServer } = await import('../../server/engine/engineServer.js')
  return createEngineServer({ secret: engine.secret, engine: ingest!.engine!, dispatcher, metrics })
}

async function createAdmin(
  { options }: ServingCore,
  health: HealthSource,
  metricsPage: MetricsPage | undefined,
): Promise<Server | undefined> {
  const { ownPort } = options.metrics
  if (ownPort === undefined) return undefined
  const { createAdminServer } = await import('../../server/admin/adminPort.js')
  const notFound = 'not found; this port serves /metrics, /health and /ready'
  return createAdminServer({ hosts: ownPort.hosts, health, metricsPage, notFound })
}
