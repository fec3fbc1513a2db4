import type { AddressInfo } from 'node:net'
import { logCrypto } from '../chain/crypto.js'
import { createBudget } from '../evm/calls/budget.js'
import type { EvmKind } from '../evm/kinds.js'
import { messageOf } from '../lib/errors.js'
import { createFailureLog } from '../lib/failureLog.js'
import { reduceGcFrequency } from '../lib/heap.js'
import { formatData } from '../lib/hex.js'
import { createLogger, type LogLevel } from '../lib/logger.js'
import type { PendingBlockForm, RpcContext, RpcLimits } from '../rpc/core/context.js'
import { createDispatcher, type InlineRunner, type MethodTable } from '../rpc/core/dispatch.js'
import { type OpenContext, openContext, packageVersion } from '../rpc/core/openContext.js'
import { createResponseCache, type ResponseCache } from '../rpc/core/responseCache.js'
import { createInlineCalls, type InlineCalls } from '../rpc/inline/inlineCalls.js'
import { createInlinePolicy, type ThreadLoad } from '../rpc/inline/inlinePolicy.js'
import { loadMethods } from '../rpc/loadMethods.js'
import { warmCalls } from '../rpc/warmUp.js'
import { createAccess } from '../server/access.js'
import { createAdmission } from '../server/admission.js'
import type { CompressionPolicy } from '../server/compression.js'
import { type CorsPolicy, isLoopback } from '../server/cors.js'
import type { HealthReport } from '../server/health.js'
import type { HostPolicy } from '../server/hosts.js'
import { createHttpServer, type HttpServer } from '../server/http.js'
import type { ServerLimits } from '../server/limits.js'
import { attachWebSocket } from '../server/websocket.js'
import { createApiKeyReader } from '../store/apiKeys.js'
import type { Database } from '../store/database.js'
import { createDatabaseProbe } from '../store/databaseProbe.js'
import { keepFresh } from '../transactions/keepFresh.js'
import { createReaderPool, type ReaderPool } from '../workers/readerPool.js'

/** After this long, a server that stops no longer waits for requests: above the longest that a request may take. */
const STOP_MS = 15_000

/** What the main thread takes at most to warm up small calls. */
const INLINE_WARM_MS = 50

/** What to serve, and how. */
export interface ServingOptions {
  readonly datadir: string
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly open: boolean
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  readonly compression: CompressionPolicy
  /** Bytes of recent answers to keep; 0: none. */
  readonly responseCacheBytes: number
  /** Whether the main thread runs small calls itself, where our interpreter runs calls. */
  readonly inlineCalls: boolean
  readonly rateLimitRps: number
  /** What clients together may take. */
  readonly serverLimits: ServerLimits
  readonly scanThreads: number
  readonly evmThreads: number
  /** What runs calls. */
  readonly evm: EvmKind
  readonly limits: RpcLimits
  readonly pendingBlock: PendingBlockForm
  readonly logLevel: LogLevel
  /** URL of a module that exports another method table than Cairn's own, as `METHODS`. */
  readonly methodsModule?: string
}

/** A server that answers. */
export interface Serving {
  readonly url: string
  /** False when calls need a key and there is none. */
  readonly reachable: boolean
  /** False when the database holds no block of any chain. */
  readonly hasBlocks: boolean
  readonly pool: ReaderPool
  /** Resolves once every thread is warm, so that the first call and the first log query are as fast as later ones; also
   *  when the server is closed before. `/ready` says 200 from then on. */
  warm(): Promise<void>
  /** Takes no more requests, answers those under way, and ends everything; within 15 s whatever happens. */
  close(): Promise<void>
}

/** Opens the database of `datadir`, its reader threads and the port. Resolves when requests are taken. Those for threads wait
 *  until the first of them is warm.
 *  @throws DatabaseMissing, and an error with `code` when the port cannot be had. */
export async function startServing(options: ServingOptions): Promise<Serving> {
  reduceGcFrequency()
  const log = createLogger(options.logLevel)
  const { datadir, limits, pendingBlock } = options
  const opened = openContext({ datadir, limits, pendingBlock, log, mainThread: true })
  const { context, db, watch, close: closeContext } = opened
  const methods = await loadMethods(options.methodsModule)
  const keys = createApiKeyReader(db)
  let serving = true
  let warm = false
  const failures = createFailureLog(log, 'the database')
  const access = createAccess({ keys, open: options.open, rateLimitRps: options.rateLimitRps, failures })
  let pool: ReaderPool | undefined
  const remote = { run: (...call: Parameters<ReaderPool['run']>) => pool!.run(...call) }
  const { cors, hosts, compression, responseCacheBytes } = options
  const cache = responseCacheBytes > 0 ? createResponseCache({ maxBytes: responseCacheBytes }) : undefined
  let inlineCalls: InlineCalls | undefined
  const inline: InlineRunner = { run: (...call) => inlineCalls?.run(...call), withSnapshot: watch.withSnapshot }
  const runsInline = options.inlineCalls && options.evm === 'cairn'
  const dispatch = { methods, context, remote, log, cache, inline: runsInline ? inline : undefined }
  const dispatcher = createDispatcher(dispatch)
  const reports = { cache, pool: () => pool, inlineCalls: () => inlineCalls }
  const health = {
    report: createHealthReporter({ context, db, ...reports, serving: () => serving, warm: () => warm }),
    problem: createDatabaseProbe(db, options.datadir),
  }
  const admission = createAdmission(options.serverLimits, (method) => methods.get(method)?.cost)
  const reach = { access, admission, limits: options.serverLimits, cors, hosts }
  const serverOptions = { dispatcher, ...reach, compression, health, failures, log, keys }
  const http = createHttpServer(serverOptions)
  const { server } = http
  const sockets = attachWebSocket(http, serverOptions)
  try {
    await listen(server, options)
  } catch (error) {
    sockets.close()
    closeContext()
    throw error
  }
  logCrypto(log)
  // After the port, which has to be there before the process is kept busy by starting threads.
  const started = createReaderPool({ ...options, log })
  pool = started
  const stopRefreshing = keepFresh(context.transactions, log)
  const startInlineCalls = async () => {
    const load = { jobs: started.callsUnderWay, threads: options.evmThreads }
    try {
      inlineCalls = await openInlineCalls(opened, methods, load)
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'calls run in threads only')
    }
  }
  // Beside the threads: requests that come before all is warm wait for the slower of both at most.
  const whenWarm = Promise.all([started.warm(), runsInline && startInlineCalls()]).then(() => {
    warm = true
  })

  let closing: Promise<void> | undefined
  const close = async () => {
    serving = false
    sockets.close()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    http.closeIdle()
    const deadline = setTimeout(() => {
      sockets.terminate()
      http.closeAll()
    }, STOP_MS)
    // Connections that were busy become idle without the server looking at them again.
    const sweep = setInterval(() => http.closeIdle(), 100)
    await closed
    clearTimeout(deadline)
    clearInterval(sweep)
    await started.close()
    await whenWarm
    stopRefreshing()
    closeContext()
  }
  return {
    url: formatUrl(server.address() as AddressInfo),
    reachable: options.open || keys.hasAny(),
    hasBlocks: context.chain.coverage() !== undefined || context.l2.head() !== undefined,
    pool: started,
    warm: () => whenWarm,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** What runs small calls on the main thread, over its connection, once it has run some. */
async function openInlineCalls(opened: OpenContext, methods: MethodTable, load: ThreadLoad): Promise<InlineCalls> {
  const budget = createBudget()
  const evm = await opened.loadBudgetedEvm(budget)
  const { context, watch } = opened
  budget.begin(INLINE_WARM_MS)
  await warmCalls(methods, { ...context, evm, deadline: budget.deadline })
  return createInlineCalls({ context, evm, budget, policy: createInlinePolicy(load), withSnapshot: watch.withSnapshot })
}

function listen(server: HttpServer['server'], { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function formatUrl({ address, family, port }: AddressInfo): string {
  if (isLoopback(address) && address !== '::1') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** What `/health` says of an open database. */
function createHealthReporter(parts: {
  context: RpcContext
  db: Database
  cache: ResponseCache | undefined
  pool: () => ReaderPool | undefined
  inlineCalls: () => InlineCalls | undefined
  serving: () => boolean
  warm: () => boolean
}): () => HealthReport {
  const { context, db, cache, pool, inlineCalls, serving, warm } = parts
  const version = packageVersion()
  const migrations = db.prepare<[], number>('SELECT count(*) FROM __drizzle_migrations').pluck()
  return () => {
    const coverage = context.chain.coverage()
    const head = coverage && context.chain.blockByNumber(coverage.head)
    const l2Head = context.l2.head()
    return {
      serving: serving(),
      ready: serving() && warm(),
      version,
      schemaVersion: migrations.get()!,
      chainId: coverage === undefined ? null : String(context.chain.chainId()),
      head: head ? { number: head.header.number, hash: formatData(head.hash) } : null,
      coverage: coverage
        ? { first: coverage.first, head: coverage.head, stateFirst: coverage.stateFirst ?? null }
        : null,
      l2Head: l2Head ? { number: l2Head.number, hash: `0x${l2Head.hash.toString(16)}` } : null,
      threads: {
        living: pool()?.threadCount() ?? 0,
        warm: pool()?.warmCount() ?? 0,
        lost: pool()?.lostThreads() ?? 0,
      },
      responseCache: cache?.report() ?? null,
      inlineCalls: inlineCalls()?.report() ?? null,
    }
  }
}
