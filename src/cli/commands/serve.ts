import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { corsPolicy, isLoopback } from '../../server/access/cors.js'
import { hostPolicy } from '../../server/access/hosts.js'
import type { SinkWorker } from '../../sinks/sinkWorker.js'
import { chooseLake, lakeDirectory } from '../../sql/lake/chooseLake.js'
import { packagePath } from '../../store/open.js'
import type { ImportDirectory } from '../../sync/import/importDirectory.js'
import type { IngestWorker } from '../../sync/thread/ingestWorker.js'
import { defaultThreads } from '../../workers/pool/readerPool.js'
import { readAcceptThreads } from '../acceptThreads.js'
import { closeOnStop } from '../closeOnStop.js'
import type { Config } from '../config.js'
import { readCursorSecretFile } from '../cursorSecret.js'
import type { FollowProgress } from '../followProgress.js'
import { keepFollowReport } from '../followReport.js'
import { isFollowing, readFollowSettings } from '../followSettings.js'
import { readEngineOptions } from '../jwtSecret.js'
import {
  readLimits,
  readReplicationLimits,
  readServerLimits,
  readSqlLimits,
  readStreamLimits,
  readSubscriptionLimits,
} from '../limits.js'
import { envName } from '../options/option.js'
import { readLogging } from '../options/output.js'
import { watchParents } from '../parentWatch.js'
import type { ParsedArgs } from '../parseArgs.js'
import { type ReplicationPlan, readReplicationPlan } from '../replicationSettings.js'
import { ListenFailed } from '../serving/listen.js'
import type { MetricsOptions, ServingOptions } from '../serving/options.js'
import { startServing } from '../serving.js'
import { readSinkSettings } from '../sinkSettings.js'
import { printOutcome } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'

/** `cairn serve`: returns once the server has stopped after SIGINT or SIGTERM. */
export async function runServe({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help serve'`)
  const stop = listenForStop()
  if (config.stopWithParent || config.fixture !== undefined) watchParents(stop.request)
  if (config.forwardTransactions && config.upstream.length === 0) {
    throw new UsageError('--forward-transactions needs --upstream')
  }
  if (config.fork !== undefined && config.fixture === undefined && !isFollowing(config)) {
    throw new UsageError(
      "--fork of 'cairn serve' needs --upstream or --fixture; 'cairn import --fork' sets it in a database",
    )
  }
  if (config.snapshots !== undefined && readReplicationPlan(config) === undefined) {
    throw new UsageError('--snapshots needs --replica or --publish')
  }
  readEngineOptions(config)
  if (config.cursorSecretFile !== undefined) readCursorSecretFile(config.cursorSecretFile) // fails before a long start
  readSinkSettings(config, config.datadir) // fails before a long start
  if (config.fixture === undefined) return serveDatadir(config, stop.signal)
  if (isFollowing(config) || readReplicationPlan(config) !== undefined) {
    throw new UsageError('--fixture excludes --upstream, --l2-upstream, --l2-feeder, --replica and --publish')
  }
  const fixture = await readFixture(config.fixture)
  const datadir = mkdtempSync(join(tmpdir(), 'cairn-fixture-'))
  try {
    await importFixture(config, fixture, { datadir, stop: stop.signal })
    if (stop.signal.aborted) return stop.exitCode()
    return await serve(config, datadir, { open: true, stop: stop.signal })
  } finally {
    rmSync(datadir, { recursive: true, force: true })
  }
}

async function serveDatadir(config: Config, stop: AbortSignal): Promise<number> {
  const { datadir, open } = config
  const plan = readReplicationPlan(config)
  if (plan !== undefined) return serveReplicating(config, plan, stop)
  if (!isFollowing(config)) return serve(config, datadir, { open, stop })
  const settings = await readFollowSettings(config)
  const { startIngestWorker } = await import('../../sync/thread/ingestWorker.js')
  const logging = readLogging(config)
  const ingest = await startIngestWorker(settings, { log: createLogger(logging), logging, pending: config.pending })
  try {
    const forwardTo = config.forwardTransactions && settings.upstreams.length > 0 ? settings.upstreams : undefined
    return await serve(config, datadir, { open, stop, ingest, forwardTo })
  } finally {
    await ingest.close()
  }
}

/** Serves, and restarts from a snapshot when a replica needs a newer database. */
async function serveReplicating(config: Config, plan: ReplicationPlan, stop: AbortSignal): Promise<number> {
  const { datadir, open } = config
  const { bootstrapReplica, replaceDatabase, untilCut } = await import('../bootstrapReplica.js')
  const { startReplicating } = await import('../replicating.js')
  const log = createLogger(readLogging(config))
  for (;;) {
    try {
      await bootstrapReplica(config, { log, signal: stop })
    } catch (error) {
      if (stop.aborted) return 0
      throw error
    }
    const ingest = await startReplicating(config, plan, stop)
    const end = new AbortController()
    const signal = AbortSignal.any([stop, end.signal])
    const cut = untilCut(config, ingest, { log, signal }).finally(() => end.abort())
    try {
      const { upstreams } = await readFollowSettings(config)
      const forwardTo = config.forwardTransactions ? upstreams : undefined
      await serve(config, datadir, { open, stop: signal, hardStop: stop, ingest, forwardTo })
    } finally {
      end.abort()
      await ingest.close()
    }
    if (!(await cut) || stop.aborted) return 0
    replaceDatabase(config, log)
  }
}

type Fixture = ImportDirectory & { readonly genesis: string }

/** Value of --fixture for the chain bundled with the package. */
const BUNDLED = 'bundled'

/** Returns the files of a fixture directory. @throws UsageError if it is not one */
async function readFixture(named: string): Promise<Fixture> {
  const directory = named === BUNDLED ? packagePath('fixtures/chain') : named
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--fixture: no such directory: ${directory}`)
  }
  const { readImportDirectory } = await import('../../sync/import/importDirectory.js')
  const found = readImportDirectory(directory)
  const { genesis } = found
  if (genesis === undefined) throw new UsageError(`--fixture: no genesis.json in ${directory}`)
  return { ...found, genesis }
}

async function importFixture(
  config: Config,
  fixture: Fixture,
  { datadir, stop }: { datadir: string; stop: AbortSignal },
): Promise<void> {
  const { importFiles, readDirectoryChain, recogniseKind } = await import('../../sync/import/importFiles.js')
  const { SenderRecovery } = await import('../../sources/senders/senderRecovery.js')
  const { createL2Verifier } = await import('../../sync/thread/l2Verifier.js')
  const { paths, recordedState } = fixture
  const log = createLogger(readLogging(config))
  const verifier = createL2Verifier()
  const senderRecovery = new SenderRecovery({ isEnabled: config.senderThread, log })
  // In parallel with the import of the blocks of layer 1.
  if (config.l2Verify && paths.some((path) => recogniseKind(path) === 'starknet')) verifier.startThread()
  try {
    await importFiles({
      datadir,
      paths: [...paths],
      chain: readDirectoryChain(fixture),
      initsGenesis: true,
      stateMode: recordedState === undefined ? 'execute' : 'sparse',
      recordedState,
      l2Verify: config.l2Verify ? verifier.verify : undefined,
      l2Network: config.l2Network,
      coreContract: config.l2CoreContract,
      evm: config.evm,
      forkTimes: config.fork,
      blockAccessLists: config.blockAccessLists,
      addressIndex: config.addressIndex,
      traces: config.traces,
      senderRecovery,
      log,
      showProgress: false,
      signal: stop,
    })
  } finally {
    await Promise.all([verifier.close(), senderRecovery.close()])
  }
}

async function serve(
  config: Config,
  datadir: string,
  {
    open,
    stop,
    hardStop = stop,
    ingest,
    forwardTo,
  }: {
    open: boolean
    stop: AbortSignal
    /** Aborted when the process must end, and not only the server. */
    hardStop?: AbortSignal
    ingest?: IngestWorker
    forwardTo?: ServingOptions['forwardTo']
  },
): Promise<number> {
  const sink = await startSink(config, datadir)
  const serving = await startServing({
    datadir,
    open,
    host: config.host,
    port: config.port,
    cors: corsPolicy(config.cors, { host: config.host, open }),
    hosts: hostPolicy(config.allowedHosts, config.host),
    plainHttp: config.plainHttp,
    acceptThreads: readAcceptThreads(config),
    metrics: readMetricsOptions(config),
    page: config.page ?? isLoopback(config.host),
    compression: { mode: config.compress, aboveBytes: config.compressAbove * 1024 },
    responseCacheBytes: config.responseCache * 1024 * 1024,
    inlineCalls: config.inlineCalls,
    pageReads: config.pageReads,
    rateLimitRps: config.rateLimit,
    accessLog: config.accessLog,
    usageDays: config.usageDays,
    cursorSecret: config.cursorSecretFile === undefined ? undefined : readCursorSecretFile(config.cursorSecretFile),
    serverLimits: readServerLimits(config),
    maxLag: config.maxLag,
    maxLagSeconds: config.maxLagSeconds,
    subscriptionLimits: readSubscriptionLimits(config),
    scanThreads: config.scanThreads ?? defaultThreads(),
    evmThreads: config.evmThreads ?? defaultThreads(),
    evm: config.evm,
    limits: readLimits(config),
    sql: readSqlLimits(config),
    sqlLake: readSqlLake(config, datadir),
    stream: readStreamLimits(config),
    replication: readReplicationLimits(config),
    compatibility: config.pendingBlock ?? config.compat,
    logging: readLogging(config),
    ingest,
    engine: readEngineOptions(config),
    forwardTo,
    sink: sink?.status,
  }).catch(async (error: unknown) => {
    await sink?.close()
    throw explainListenError(error)
  })
  if (!serving.reachable) {
    process.stderr.write("there is no API key yet: make one with 'cairn keys create NAME', or serve with --open\n")
  }
  if (!serving.hasBlocks && !ingest) {
    process.stderr.write("there are no blocks yet: import some with 'cairn import'; they are served at once\n")
  }
  if (open && !isLoopback(config.host)) {
    process.stderr.write(`warning: everyone who reaches ${config.host} may ask this server, it takes no API keys\n`)
  }
  stop.addEventListener('abort', () => void sink?.close())
  const stopped = closeOnStop(serving, stop, hardStop)
  await Promise.race([serving.warm(), stopped])
  if (!stop.aborted) printOutcome(config, `ready ${serving.url}`, { ready: serving.url })
  const progress = ingest && (await showProgress(config, ingest))
  const lake = await keepLakeOf(config, datadir)
  const report =
    ingest && keepFollowReport(datadir, () => ({ ...ingest.status(), replication: ingest.replication?.() }))
  await stopped
  report?.close()
  progress?.end()
  await lake?.close()
  await sink?.close()
  return 0
}

/** Starts the sink, if one is wanted. @throws UsageError, CairnError */
async function startSink(config: Config, datadir: string): Promise<SinkWorker | undefined> {
  const settings = readSinkSettings(config, datadir)
  if (settings === undefined) return undefined
  const { startSinkWorker } = await import('../../sinks/sinkWorker.js')
  const logging = readLogging(config)
  return startSinkWorker({ settings, logging }, createLogger(logging))
}

function readSqlLake({ sql, lake, sqlEngine, duckdb }: Config, datadir: string): ServingOptions['sqlLake'] {
  return sql ? chooseLake({ datadir, lake, duckdb, engine: sqlEngine ?? 'auto' }, '--sql-engine') : undefined
}

/** Extends the lake while the server runs, if that is asked for. */
async function keepLakeOf(config: Config, datadir: string) {
  const { lake } = config
  if (lake === undefined || lake === 'off') return undefined
  const { keepLake } = await import('../../sql/lake/keepLake.js')
  const directory = lakeDirectory({ datadir, lake })
  return keepLake({ datadir, directory, log: createLogger(readLogging(config)) })
}

async function showProgress(config: Config, { status }: IngestWorker): Promise<FollowProgress> {
  const { showFollowProgress } = await import('../followProgress.js')
  return showFollowProgress(status, createLogger(readLogging(config)))
}

function readMetricsOptions({ metrics, metricsHost: host, metricsPort: port, allowedHosts }: Config): MetricsOptions {
  const ownPort = port === undefined ? undefined : { host, port, hosts: hostPolicy(allowedHosts, host) }
  return { onRpcPort: metrics, ownPort }
}

/** The options that name host and port of a listener. */
const FLAGS = {
  calls: ['host', 'port'],
  metrics: ['metrics-host', 'metrics-port'],
  engine: ['engine', 'engine'],
} as const

function explainListenError(error: unknown): unknown {
  if (!(error instanceof ListenFailed)) return error
  const { code, syscall } = error.cause as NodeJS.ErrnoException
  const { host, port, options } = error
  const [hostFlag, portFlag] = FLAGS[options]
  if (code === 'EADDRINUSE') {
    return new UsageError(
      `port ${port} is in use; choose another with --${portFlag} or ${envName({ flag: portFlag })}; 0 takes a free one`,
    )
  }
  if (code === 'EACCES' && syscall === 'listen') {
    return new UsageError(`port ${port} may not be opened by this user; choose one above 1023`)
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new UsageError(`--${hostFlag} ${host} is not an address of this machine`)
  }
  return error.cause
}
