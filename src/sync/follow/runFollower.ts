import { logCrypto } from '../../chain/crypto.js'
import type { ForkTimes } from '../../chain/eth/forkSchedule.js'
import type { PendingBlock } from '../../chain/eth/types.js'
import type { EvmKind } from '../../evm/kinds.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { Progress } from '../../lib/progress.js'
import { fetchDevelopmentGenesis } from '../../sources/ethRpc/developmentGenesis.js'
import { openEthRpc } from '../../sources/ethRpc/ethRpc.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { SenderRecovery } from '../../sources/senders/senderRecovery.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import { parseUpstreamAddress } from '../../sources/upstreams/describeUrl.js'
import type { UpstreamAddress } from '../../sources/upstreams/types.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import type { Database } from '../../store/database.js'
import { type ChainSource, readChainSource } from '../../store/rows/chainSource.js'
import { openWritableChain, type StateMode, type WritableChain } from '../chainState.js'
import { ReorgBelowFinalized } from '../head/errors.js'
import type { IndexChoices } from '../keptIndexes.js'
import { type OpenWriter, openWriter, whenUnlocked } from '../openWriter.js'
import { StateFigures } from '../sparse/stateFigures.js'
import { DEFAULT_KEYS_PER_SECOND, NoStateSource, StateOnDemand, type WantedState } from '../sparse/stateOnDemand.js'
import { createUpstreamSource, type StateFetchMode } from '../sparse/stateSource.js'
import { nameCoreContract } from '../stateUpdates.js'
import { isTransient, NoCommonBlock, StateDumpNotInChain } from './errors.js'
import { Follower, type StartBlock } from './follower.js'
import type { L2Following, L2FollowSettings } from './l2/l2Following.js'
import { createFollowFigures, type FollowStatus } from './status.js'
import { describeStop } from './stopped.js'
import { untilRecoverable } from './untilRecoverable.js'
import { watchPending } from './watchPending.js'

/** The chain of a development node: its genesis is read from the upstream. */
export interface DevelopmentSource {
  readonly development: true
  /** The genesis file that the node was started with, for its accounts. */
  readonly genesis?: unknown
}

/** What to follow, and into which database. All but log, checkpoints and progress can be sent to a thread. */
export interface FollowSettings extends IndexChoices {
  readonly datadir: string
  /** Of layer 1; at least one, unless only layer 2 is followed. */
  readonly upstreams: readonly UpstreamAddress[]
  /** Names the chain; needed for a new database only. */
  readonly chain?: ChainSource | DevelopmentSource
  readonly stateMode?: StateMode
  /** First block to store in a new database without state, or with sparse state, where it may be the newest or the
   *  finalized block. */
  readonly from?: StartBlock
  /** How sparse state is fetched. Default: 'auto'. */
  readonly stateFetch?: StateFetchMode
  /** Accounts and slots that requests fetch in a second. Default: 2,000. */
  readonly stateFetchRate?: number
  /** No state is fetched for requests. */
  readonly offline?: boolean
  /** With sparse state: keep what is added to it for replicas. Default: false. */
  readonly logsState?: boolean
  readonly evm?: EvmKind
  /** Store the access lists of blocks (EIP-7928). Default: false. */
  readonly blockAccessLists?: boolean
  /** Refuse wrong state roots of a development node, which are otherwise accepted with a warning. Default: false. */
  readonly strict?: boolean
  /** Memory for the newest state and its trie; undefined: 256 MiB. */
  readonly stateCacheBytes?: number
  /** Blocks between two checks of the state root while far behind; 0 or undefined: chosen by the size of the state. */
  readonly rootInterval?: number
  /** Recover senders in another thread while catching up. Default: where the process has two cores or more. */
  readonly senderThread?: boolean
  /** Times of forks to set (`--fork`). */
  readonly forkTimes?: ForkTimes
  /** Address (20 bytes) of the Starknet core contract; undefined: the stored one, or those of the known networks. */
  readonly coreContract?: Uint8Array
  /** What to follow of layer 2. */
  readonly l2?: L2FollowSettings
  /** A consensus client drives the chain; upstreams fill gaps only. Default: false. */
  readonly engine?: boolean
  /** Version of Cairn for the consensus client. */
  readonly version?: string
}

/** Dependencies of a follower besides its settings. */
export interface FollowerParts {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly checkpoints: Checkpoints
  /** Recovers senders in another thread while catching up. Default: the calling thread recovers all. */
  readonly senderRecovery?: SenderRecovery
  /** Called with the upstream's pending block. Default: no pending block is requested. */
  onPending?(pending: PendingBlock | undefined): void
  /** Failures after which following resumes by itself. Default: `isTransient`. */
  recovers?(error: unknown): boolean
  /** Follows layer 2 over the same connection. */
  readonly l2?: L2Following
  /** Time and timers, for tests. */
  readonly clock?: Clock
  /** Shows the progress of bringing an older database up to date on opening. */
  startProgress?(label: string, unit: string, total: number): Progress
}

/** A database that a follower writes. */
export interface OpenFollower {
  /** Follows until the signal aborts. After a failure, closes the database, so that `cairn rewind` can open it, and
   *  opens it again: when the chain was rewound or the upstream has the finalized block again after a fork below it,
   *  else after at most 20 s. @throws an error that `recovers` does not name */
  run(): Promise<void>
  status(): FollowStatus
  /** Fetches state that a request needs, and stores it. Resolves as `StateOnDemand.fetch`. @throws NoStateSource while
   *  the database is not open, or without sparse state; what `StateOnDemand.fetch` throws */
  fetchState(wanted: WantedState): Promise<number>
  /** Closes connections and database. */
  close(): void
}

/** Opens the database of `settings.datadir`, creating it if missing. Asks an upstream only for the genesis of a
 *  development chain.
 *  @throws UsageError for an address that cannot be used, and as `openWritableChain`; DatabaseLocked */
export async function openFollower(settings: FollowSettings, parts: FollowerParts): Promise<OpenFollower> {
  const { log, signal, clock = systemClock, recovers = isTransient } = parts
  for (const address of settings.upstreams) parseUpstreamAddress(address)
  let writer: OpenWriter | undefined = await openChainWriter(settings, parts)
  const { chain } = writer
  const figures = createFollowFigures()
  let rpc: EthRpc
  try {
    rpc = await openChainRpc(chain, settings, parts)
  } catch (error) {
    writer.close()
    throw error
  }
  const state = createStateFetching(rpc, settings, { signal, clock })
  state.connect(chain)
  const closeWriter = () => {
    state.close()
    writer?.close()
    writer = undefined
  }
  let retryMs = FIRST_RETRY_MS
  const next = () => {
    const { block } = figures.status()
    return block === null ? (typeof settings.from === 'number' ? settings.from : 0) : block + 1
  }
  const stops = (error: unknown) => {
    figures.stops(isAlarm(error) ? 'alarm' : 'failed', describeStop(error, settings.datadir, next()))
    return figures.status().problem
  }
  const stall = () => {
    const found = rpc.stall()
    return found && { stopped: describeStop(found.error, settings.datadir, next()), ms: found.ms }
  }
  const runWithPending = async (follower: Follower, chain: WritableChain) => {
    const { onPending } = parts
    const onError = (error: unknown) =>
      log.warn({ error: messageOf(error) }, 'the pending block is not watched any more')
    const stop = onPending && watchPending(chain, rpc, { onPending, onError, clock, signal })
    try {
      await follower.run()
    } finally {
      stop?.()
    }
  }
  const followBeside = async (l2: L2Following | undefined, { db, chain }: OpenWriter) => {
    const { rootInterval, from = chain.sparse ? 'latest' : 0 } = settings
    const beside = l2?.begin(db)
    const checkpoints = beside?.checkpoints ?? parts.checkpoints
    try {
      const follower = new Follower(chain, rpc, {
        ...{ signal, log, figures, from, checkpoints, rootInterval },
        listsStates: !settings.logsState, // replicas verify the state root of each block
      })
      await runWithPending(follower, chain)
    } finally {
      await beside?.end()
    }
  }
  const follow = async () => {
    for (let isStarted = false; ; ) {
      const before = figures.status().block
      try {
        if (!isStarted) await rpc.start(signal)
        if (!isStarted && writer?.chain.sparse?.isComplete() === false)
          void reportStateSupport(rpc, { log, signal }).catch(() => {}) // none can be asked
        isStarted = true
        if (!writer) {
          writer = await whenUnlocked(() => openChainWriter(settings, parts), clock, signal)
          state.connect(writer.chain)
        }
        return await followBeside(parts.l2, writer)
      } catch (error) {
        if (signal.aborted || !recovers(error)) throw error
        closeWriter() // first: who reads of the problem may open the database
        const problem = stops(error)
        log.error({ problem, error: messageOf(error) }, 'following stopped; it resumes when the cause is gone')
        retryMs = figures.status().block === before ? Math.min(2 * retryMs, MAX_RETRY_MS) : FIRST_RETRY_MS
        await untilRecoverable(error, { datadir: settings.datadir, rpc, clock, signal, retryMs })
        log.info({}, 'following begins again')
      }
    }
  }
  return {
    run: async () => {
      try {
        await follow()
      } catch (error) {
        if (signal.aborted) return
        log.error({ problem: stops(error) }, 'following ended')
        throw error
      }
    },
    status: () => ({ ...figures.status(stall()), upstreams: rpc.status(), stateFetches: state.status() }),
    fetchState: state.fetch,
    close: () => {
      rpc.close()
      closeWriter()
    },
  }
}

/** Opens a connection to the upstreams of a chain. @throws UsageError for an address that cannot be used */
export async function openChainRpc(
  { spec, stateMode, reader, genesisBlock }: WritableChain,
  { upstreams }: FollowSettings,
  { senderRecovery, log }: FollowerParts,
): Promise<EthRpc> {
  const genesisHash = reader.blockHash(0) ?? (await genesisBlock()).hash
  const withReceipts = stateMode === 'none'
  return openEthRpc({ upstreams, chainId: spec.chainId, spec, genesisHash, withReceipts, senderRecovery, log })
}

/** Fetches state of whichever chain is connected: none while the database is closed, or without sparse state. */
export function createStateFetching(
  rpc: EthRpc,
  { stateFetch, stateFetchRate = DEFAULT_KEYS_PER_SECOND, offline = false }: FollowSettings,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
) {
  let figures: StateFigures | undefined
  let onDemand: StateOnDemand | undefined
  return {
    connect: ({ sparse, head, reader }: WritableChain) => {
      if (!sparse) return
      figures ??= new StateFigures()
      sparse.connect(createUpstreamSource(rpc, { mode: stateFetch, signal, figures }))
      const parts = { head, chain: reader, sparse, rpc, clock, signal, figures }
      onDemand = new StateOnDemand({ ...parts, keysPerSecond: stateFetchRate })
    },
    fetch: async (wanted: WantedState) => {
      if (offline) throw new NoStateSource('this server fetches no state for requests (--offline)')
      if (onDemand === undefined) throw new NoStateSource('following is stopped')
      return onDemand.fetch(wanted)
    },
    status: () => figures?.status(),
    close: () => {
      onDemand?.close()
      onDemand = undefined
    },
  }
}

/** Logs what the upstreams cannot give of the state. */
async function reportStateSupport(rpc: EthRpc, { log, signal }: Pick<FollowerParts, 'log' | 'signal'>): Promise<void> {
  const { witness, proofs, reason } = await rpc.probeState(signal)
  if (!witness && !proofs) log.error({ reason }, 'no upstream gives the state that blocks and requests need')
  else if (!proofs)
    log.warn({ reason }, 'no upstream gives proofs: requests cannot fetch state, nor can blocks beyond their witnesses')
}

/** True for an error that the operator or the upstream can resolve while following waits. */
function isAlarm(error: unknown): boolean {
  return error instanceof ReorgBelowFinalized || error instanceof NoCommonBlock || error instanceof StateDumpNotInChain
}

// Between two attempts, doubled each time: each attempt opens the database.
const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 20_000

/** Opens the database of the settings for writing, and its chain. @throws as `openWriter` */
export function openChainWriter(settings: FollowSettings, parts: FollowerParts): Promise<OpenWriter> {
  const { datadir, chain: wanted, stateMode, stateCacheBytes } = settings
  const { evm, blockAccessLists, addressIndex, traces, forkTimes, logsState, coreContract, strict = false } = settings
  const { log, signal, checkpoints, startProgress } = parts
  return openWriter({ datadir, isNamed: wanted !== undefined }, async (db) => {
    logCrypto(log)
    db.pragma('wal_autocheckpoint = 0')
    if (coreContract) nameCoreContract(db, coreContract)
    const source = isDevelopment(wanted) ? await developmentSource(db, wanted, settings, parts) : wanted
    const limits = { signal, checkpoints, stateCacheBytes, evm, forkTimes }
    const kept = { blockAccessLists, addressIndex, traces, logsState }
    const opening = { ...limits, ...kept, startProgress, log, acceptsWrongRoots: !strict }
    const chain = await openWritableChain(db, source, stateMode, opening)
    if (strict) requireComparedRoots(chain)
    requireFrom(chain, settings.from)
    parts.l2?.setNetwork(db)
    return chain
  })
}

function isDevelopment(source: ChainSource | DevelopmentSource | undefined): source is DevelopmentSource {
  return source !== undefined && 'development' in source
}

/** Returns the chain of the upstream, unless the database names one. */
async function developmentSource(
  db: Database,
  { genesis }: DevelopmentSource,
  { upstreams, stateMode }: FollowSettings,
  { log, signal }: FollowerParts,
): Promise<ChainSource | undefined> {
  if (readChainSource(db)) return undefined
  return {
    genesis: await fetchDevelopmentGenesis(upstreams, {
      file: genesis,
      withState: stateMode !== 'none' && stateMode !== 'sparse',
      log,
      signal,
    }),
  }
}

/** @throws UsageError when state roots were not compared */
function requireComparedRoots({ reader }: WritableChain): void {
  const from = reader.unverifiedFrom()
  if (from === undefined) return
  throw new UsageError(
    `--strict: state roots were not compared from block ${from} on; 'cairn rewind --to ${from - 1}' removes these blocks`,
  )
}

/** @throws UsageError when the database cannot start at that block */
function requireFrom({ reader, stateMode }: WritableChain, from: StartBlock | undefined): void {
  if (from === undefined || from === 0) return
  if (stateMode === 'execute') {
    throw new UsageError(
      `--from ${from} needs --state sparse or --state none: the state before that block is not there to execute upon`,
    )
  }
  if (typeof from !== 'number') return
  const coverage = reader.coverage()
  if (coverage === undefined || coverage.first === from) return
  throw new UsageError(
    `--from ${from}: the database holds blocks ${coverage.first} to ${coverage.head} already, and resumes after them; leave ` +
      '--from out',
  )
}
