import type { AddressInfo } from 'node:net'
import { logCrypto } from '../chain/crypto.js'
import { keepFresh } from '../index/transactions/keepFresh.js'
import { reduceGcFrequency } from '../lib/garbageCollection.js'
import type { ReaderPool } from '../workers/pool/readerPool.js'
import { openCore, type ServingCore } from './serving/core.js'
import { listen, listenShared, urlOf } from './serving/listen.js'
import { createListeners, type Listeners } from './serving/listeners.js'
import type { ServingOptions } from './serving/options.js'
import { ServedCalls } from './serving/servedCalls.js'

/** Time that a stopping server waits for requests in flight. Their threads then have 1 s to stop, and on a busy machine
 *  some more to exit: 8 s in all, less than the 10 s after which `docker stop` kills. */
const STOP_MS = 3_500

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
  /** What is not stopped yet, once `close` was called. */
  readonly stopping: ReadonlySet<string>
  /** Refuses new requests, finishes those in flight for 3.5 s, and stops. */
  close(): Promise<void>
}

/** Opens the database of `datadir`, its reader threads and the port. Resolves when requests are accepted; those for
 *  threads wait until the first thread is warm. @throws DatabaseMissing, ListenFailed */
export async function startServing(options: ServingOptions): Promise<Serving> {
  reduceGcFrequency()
  const core = await openCore(options)
  const state = { isServing: true }
  const calls = new ServedCalls(core)
  const listeners = await createListeners(core, calls, () => state.isServing)
  const isShared = await listenOrClose(core, listeners)
  const { admin } = listeners
  if (admin) core.log.info({ url: metricsUrlOf(admin) }, 'serving metrics')
  if (listeners.engine) {
    core.log.info(
      { url: urlOf(listeners.engine) },
      'serving the Engine API; this server builds no blocks for validators',
    )
  }
  logCrypto(core.log)
  // Started after the port is open, because starting threads keeps the process busy.
  const { pool, warmed: callsWarm } = calls.start()
  const { port } = listeners.http.server.address() as AddressInfo
  const accepting = isShared ? listeners.acceptors!.start({ host: options.host, port }) : undefined
  const warmed = Promise.all([callsWarm, accepting]).then(() => {})
  const { chain, l2, transactions } = core.opened.context
  const stopRefreshing = keepFresh(transactions, core.log)
  const parts = { core, listeners, state, pool, warmed, stopRefreshing }
  const stopping = new Set<string>()
  let closing: Promise<void> | undefined
  return {
    url: urlOf(listeners.http.server),
    metricsUrl: admin && metricsUrlOf(admin),
    reachable: options.open || core.keys.hasAny(),
    hasBlocks: chain.coverage() !== undefined || l2.head() !== undefined,
    pool,
    warm: () => warmed,
    stopping,
    close: () => {
      closing ??= stopServing(parts, stopping)
      return closing
    },
  }
}

/** Opens the ports; closes everything if one cannot be opened. True if acceptor threads may share the port for calls.
 *  @throws ListenFailed */
async function listenOrClose(
  { options, opened, databaseFile, log }: ServingCore,
  listeners: Listeners,
): Promise<boolean> {
  const { http, sockets, admin, engine, sql, acceptors, shared } = listeners
  try {
    if (admin !== undefined) await listen(admin, options.metrics.ownPort!, 'metrics')
    if (engine !== undefined) await listen(engine, options.engine!, 'engine')
    if (acceptors === undefined) await listen(http.server, options, 'calls')
    else if (!(await listenShared(http.server, options, 'calls'))) {
      const { acceptThreads } = options
      log.warn({ acceptThreads }, 'the system cannot share a port: only the main thread accepts connections')
      return false
    }
    return acceptors !== undefined
  } catch (error) {
    sockets.close()
    shared.keyWatch.close()
    http.server.close()
    sql?.close()
    admin?.close()
    engine?.close()
    shared.subscriptions.close()
    databaseFile?.release()
    opened.close()
    await shared.accounting?.close()
    throw error
  }
}

/** Parts of a running server. */
interface RunningParts {
  readonly core: ServingCore
  readonly listeners: Listeners
  readonly state: { isServing: boolean }
  readonly pool: ReaderPool
  readonly warmed: Promise<void>
  stopRefreshing(): void
}

/** Stops a running server. `stopping` names what has not stopped yet. What has something to write is stopped before the
 *  threads that only read. */
async function stopServing(
  { core, listeners, state, pool, warmed, stopRefreshing }: RunningParts,
  stopping: Set<string>,
): Promise<void> {
  const { options, opened, databaseFile, forwarder } = core
  const { admin, engine, sql, bulk, replication, shared } = listeners
  const stop = async (what: string, stopped: Promise<unknown> | undefined) => {
    if (stopped === undefined) return
    stopping.add(what)
    await stopped
    stopping.delete(what)
  }
  state.isServing = false
  bulk?.close()
  replication?.endpoint.close()
  engine?.close()
  engine?.closeIdleConnections()
  const ingestEnds = stop('the writer', options.ingest?.close())
  await stop('requests', finishRequests(listeners))
  // Until here the admin port reports that the server is stopping.
  admin?.close()
  admin?.closeAllConnections()
  engine?.closeAllConnections()
  shared.keyWatch.close()
  sql?.close()
  shared.head.close()
  await Promise.all([
    stop('accounting', shared.accounting?.close()),
    stop('the replication feed', replication?.feed.close()),
    ingestEnds,
    stop('reader threads', pool.close()),
  ])
  await stop('warming up', warmed)
  stopRefreshing()
  shared.subscriptions.close()
  forwarder?.close()
  databaseFile?.release()
  opened.close()
}

/** Refuses new requests; resolves when those in flight are answered, or cut off after `STOP_MS`. */
async function finishRequests({ http, sockets, acceptors }: Listeners): Promise<void> {
  sockets.close()
  const closed = Promise.all([new Promise<void>((resolve) => http.server.close(() => resolve())), acceptors?.close()])
  http.closeIdle()
  const deadline = setTimeout(() => {
    sockets.terminate()
    http.closeAll()
    acceptors?.cut()
  }, STOP_MS)
  // The server does not check again whether busy connections have become idle.
  const sweep = setInterval(() => http.closeIdle(), 100)
  await closed
  clearTimeout(deadline)
  clearInterval(sweep)
}

function metricsUrlOf(admin: Listeners['admin'] & object): string {
  return `${urlOf(admin)}/metrics`
}
