import type { PendingBlock } from '../../chain/eth/types.js'
import { openDecoder } from '../../decoding/decoder.js'
import { createImplementationReader } from '../../decoding/proxies.js'
import type { Budget } from '../../evm/calls/budget.js'
import { createUnloadedService } from '../../evm/calls/evmPending.js'
import type { EvmService } from '../../evm/calls/evmService.js'
import type { EvmKind } from '../../evm/kinds.js'
import type { TraceService } from '../../evm/tracing/traceService.js'
import { createStreamSource, type StreamSource } from '../../export/stream/streamSource.js'
import { createAppearanceFinder } from '../../index/addresses/finder.js'
import { createLogSource } from '../../index/logs/query.js'
import { createTransactionFinder } from '../../index/transactions/finder.js'
import { noDeadline } from '../../lib/deadline.js'
import type { Logger } from '../../lib/logger.js'
import { createAbiAdder } from '../../store/abiAdder.js'
import { type CommitWatch, createCommitWatch, readsInSnapshot } from '../../store/commitWatch.js'
import { readContractSources } from '../../store/contractSources.js'
import { readCursorSecret } from '../../store/cursorSecret.js'
import type { Database } from '../../store/database.js'
import { createDatabaseSizes } from '../../store/databaseFacts.js'
import { createL2Reader } from '../../store/l2/l2Reader.js'
import { openForReading } from '../../store/open.js'
import { packageVersion } from '../../store/packageVersion.js'
import type { DatabaseFile } from '../../store/pages/databaseFile.js'
import { createLogPages } from '../../store/pages/logPages.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { createTraceReader } from '../../store/rows/traceRows.js'
import { createHashedRanges } from '../../store/state/hashedRanges.js'
import { createStateReads } from '../../store/state/stateReader.js'
import { createTokenReaders, type TokenReaders } from '../../tokens/tokenReaders.js'
import type { Compatibility, L2SyncProgress, RpcContext, RpcLimits, SyncProgress } from './context.js'

/** A context with its own connection. */
export interface OpenContext {
  readonly context: RpcContext
  readonly db: Database
  readonly watch: CommitWatch
  /** Loads the EVM of `context` before a request needs it. */
  loadEvm(): Promise<EvmService>
  /** Cairn's interpreter over the same connection, for the main thread. */
  loadBudgetedEvm(budget: Budget): Promise<EvmService>
  close(): void
}

/** Opens the database of `datadir` read-only for one thread. The EVM, Cairn's own by default, is loaded on first use
 *  (200 ms and more), so a thread without calls never loads it. @throws DatabaseMissing if it is missing;
 *  DatabaseOutdated if its version is older. */
export function openContext(options: {
  datadir: string
  limits: RpcLimits
  log: Logger
  evm?: EvmKind
  /** Default: as in the API specification. */
  compatibility?: Compatibility
  /** For the main thread of a server that follows upstreams. */
  syncProgress?: () => SyncProgress | undefined
  l2SyncProgress?: () => L2SyncProgress | undefined
  /** For the main thread of a server that serves the upstream's pending block. */
  upstreamPending?: () => PendingBlock | undefined
  /** For the main thread of a server that forwards transactions. */
  forwardTransaction?: (transaction: Uint8Array) => Promise<string>
  /** For the main thread of a server that takes part in replication. */
  replication?: RpcContext['replication']
  /** For the main thread of a server whose chain grows. */
  headSource?: RpcContext['headSource']
  /** For the main thread of a server: counts its calls. */
  calls?: RpcContext['calls']
  /** For the main thread of a server, whose requests may share checks of the database version. */
  mainThread?: boolean
  /** Read bulk logs from its pages, where that is possible. */
  databaseFile?: DatabaseFile
  /** 32 bytes that authenticate log cursors. Default: those of the database. */
  cursorSecret?: Uint8Array
}): OpenContext {
  const db = openForReading(options.datadir)
  const watch = createCommitWatch(db, options)
  const chain = createChainReader(db, watch)
  const state = createStateReads(db)
  let loading: Promise<EvmService> | undefined
  const loadEvm = () => {
    loading ??= import('../../evm/calls/loadEvmService.js').then(async ({ loadEvmService }) => {
      context.evm = await loadEvmService(db, options.evm ?? 'cairn', { watch, chain })
      return context.evm
    })
    return loading
  }
  let traces: Promise<TraceService> | undefined
  let stream: StreamSource | undefined
  let tokens: TokenReaders | undefined
  const pages = options.databaseFile && createLogPages(db, options.databaseFile)
  const logs = createLogSource(db, watch, pages)
  const loadTraces = () => {
    traces ??= import('../../evm/tracing/traceService.js').then(({ loadTraceService }) =>
      loadTraceService(db, { watch, chain }),
    )
    return traces
  }
  const context: RpcContext & { evm: EvmService } = {
    chain,
    transactions: createTransactionFinder(db),
    appearances: createAppearanceFinder(db),
    logs,
    tokens: () => {
      tokens ??= createTokenReaders(db, { watch, logs })
      return tokens
    },
    traceIndex: createTraceReader(db),
    stream: () => {
      stream ??= createStreamSource(db, { chain, watch, pages })
      return stream
    },
    decoder: openDecoder(db, createImplementationReader(chain, state)),
    contractSources: readContractSources(db),
    l2: readsInSnapshot(createL2Reader(db), watch),
    evm: createUnloadedService(loadEvm),
    state,
    ranges: createHashedRanges(db),
    loadTraces,
    limits: options.limits,
    compatibility: options.compatibility ?? 'specification',
    syncProgress: options.syncProgress ?? (() => undefined),
    l2SyncProgress: options.l2SyncProgress ?? (() => undefined),
    upstreamPending: options.upstreamPending ?? (() => undefined),
    forwardTransaction: options.forwardTransaction,
    addAbi: options.mainThread ? createAbiAdder(options.datadir) : undefined,
    cursorSecret: options.cursorSecret ?? readCursorSecret(db),
    deadline: noDeadline,
    waitedMs: 0,
    databaseSizes: createDatabaseSizes(db),
    replication: options.replication,
    headSource: options.headSource,
    calls: options.calls,
    log: options.log,
    clientVersion: clientVersionText(),
  }
  const loadBudgetedEvm = async (budget: Budget) => {
    const { createBudgetedService } = await import('../../evm/calls/loadEvmService.js')
    return createBudgetedService(db, { watch, chain }, budget)
  }
  return { context, db, watch, loadEvm, loadBudgetedEvm, close: () => void db.close() }
}

/** Result of `web3_clientVersion`: `Cairn/v0.2.0/linux-x64/node20`. */
export function clientVersionText(): string {
  const [major] = process.versions.node.split('.')
  return `Cairn/v${packageVersion()}/${process.platform}-${process.arch}/node${major}`
}
