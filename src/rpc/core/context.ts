import type { PendingBlock } from '../../chain/eth/types.js'
import type { Decoder } from '../../decoding/decoder.js'
import type { CallLimits } from '../../evm/calls/callContext.js'
import type { EvmService } from '../../evm/calls/evmService.js'
import type { SimulationLimits } from '../../evm/calls/simulation/simulation.js'
import type { TraceService } from '../../evm/tracing/traceService.js'
import type { StreamSource } from '../../export/stream/streamSource.js'
import type { AppearanceFinder } from '../../index/addresses/finder.js'
import type { LogSource } from '../../index/logs/query.js'
import type { AskForHelp } from '../../index/logs/sharedBatches.js'
import type { TransactionFinder } from '../../index/transactions/finder.js'
import type { Deadline } from '../../lib/deadline.js'
import type { Logger } from '../../lib/logger.js'
import type { NewAbi } from '../../store/addedAbis.js'
import type { ContractSourceReader } from '../../store/contractSources.js'
import type { DatabaseSizes } from '../../store/databaseFacts.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import type { TraceReader } from '../../store/rows/traceRows.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { HashedRanges } from '../../store/state/hashedRanges.js'
import type { StateReads } from '../../store/state/stateReader.js'
import type { TokenReaders } from '../../tokens/tokenReaders.js'
import type { Session } from './session.js'

/** Limits that the operator can set; defaults are those of the API specification. */
export interface RpcLimits extends CallLimits, SimulationLimits {
  maxLogs: number // results per log query: 10,000
  maxFilterParams: number // addresses and topic values per filter: 5,000
  logsTimeoutMs: number // 10,000
  callTimeoutMs: number // 5,000
  traceTimeoutMs: number // 60,000
  queueTimeoutMs: number // longest wait of a request for a thread: 10,000
  slowLogsMs: number // log queries that take at least this long are logged with their trace: 1,000; 0: never
}

/** Selects geth's or the specification's behaviour where the two differ: the form of the pending block, and the hashes
 *  in the proof of an absent account. */
export const COMPATIBILITIES = ['specification', 'geth'] as const
export type Compatibility = (typeof COMPATIBILITIES)[number]

/** Canonical blocks [fromBlock, toBlock], both inclusive. `hash` is that of `toBlock`, 32 bytes, and identifies the
 *  chain. */
export interface ResolvedBlocks {
  readonly fromBlock: number
  readonly toBlock: number
  readonly hash: Uint8Array
}

/** A server that is behind its upstreams: block numbers. */
export interface SyncProgress {
  /** Newest block when it began to catch up. */
  readonly startingBlock: number
  /** Newest block of the upstream. */
  readonly highestBlock: number
}

/** The same for layer 2. */
export interface L2SyncProgress extends SyncProgress {
  /** Hash of `highestBlock`, as reported by the upstream. */
  readonly highestHash: string
}

/** What drives the head of a server. */
export type HeadSource = 'consensus client' | 'upstreams' | 'replication'

/** The server's part in replication: roles and states as `/health` names them. */
export interface ReplicationFacts {
  readonly role: string
  readonly epoch: number
  readonly sequence: number
  /** Null if not known. */
  readonly lagBlocks: number | null
  readonly lagSeconds: number
  readonly state: string
  readonly problem: string | null
}

/** Receives parts of a result's JSON while the handler works. It may block the thread until the client has read earlier
 *  parts.
 *  @throws DeadlineExceeded if the client does not read them */
export type ResultSink = (bytes: Uint8Array) => void

/** What a handler may use. One per thread; `deadline` is per request. */
export interface RpcContext {
  readonly chain: ChainReader
  readonly transactions: TransactionFinder
  readonly appearances: AppearanceFinder
  readonly traceIndex: TraceReader
  readonly logs: LogSource
  /** Reads token transfers; made on first use. */
  readonly tokens: () => TokenReaders
  /** Reads bulk streams; made on first use. */
  readonly stream: () => StreamSource
  /** Decodes with the currently known ABIs. */
  readonly decoder: () => Decoder
  /** Sources and storage layouts of added ABIs. */
  readonly contractSources: ContractSourceReader
  readonly l2: L2Reader
  /** Present in reader threads, where `evm` methods run. */
  readonly evm: EvmService
  readonly state: StateReads
  /** States in the order of their tries. */
  readonly ranges: HashedRanges
  /** Cairn's interpreter for traces, loaded on first use. */
  readonly loadTraces: () => Promise<TraceService>
  readonly limits: RpcLimits
  readonly compatibility: Compatibility
  /** Undefined unless this server follows upstreams and is behind them; always undefined in reader threads. */
  readonly syncProgress: () => SyncProgress | undefined
  readonly l2SyncProgress: () => L2SyncProgress | undefined
  /** The upstream's pending block, on top of any block; undefined if absent, and in reader threads. */
  readonly upstreamPending: () => PendingBlock | undefined
  /** Sends a signed transaction to an upstream and returns its hash. Undefined unless the operator enabled it, and in
   *  reader threads.
   *  @throws RpcError with the upstream's error */
  readonly forwardTransaction?: (transaction: Uint8Array) => Promise<string>
  /** Adds an ABI to the database, replacing one with the same name and address, and returns its id. Undefined in reader
   *  threads.
   *  @throws DatabaseBusy; TooManyAbis */
  readonly addAbi?: (abi: NewAbi) => Promise<number>
  /** Key that authenticates cursors; the same for every connection to a database and its copies. 32 bytes. */
  readonly cursorSecret: Uint8Array
  readonly deadline: Deadline
  /** Sends a part of the result of a trace; undefined if results are returned whole. */
  readonly sendPart?: ResultSink
  /** Asks an idle reader thread to help with a log query. Undefined where none may help: outside reader threads, and in
   *  a request that has a few milliseconds. */
  readonly askForHelp?: AskForHelp
  /** The canonical blocks that the request names, if the method's `caching.resolveBlocks` resolved them. */
  readonly blocks?: ResolvedBlocks
  /** Present for methods that use it. */
  readonly session?: Session
  /** How long the request waited for its thread; not part of its deadline. */
  readonly waitedMs: number
  /** Sizes of the database, in bytes. */
  readonly databaseSizes: () => DatabaseSizes
  /** Undefined for a server without a part in replication, and in reader threads. */
  readonly replication?: () => ReplicationFacts | undefined
  /** What drives the head; undefined for blocks from files, and in reader threads. */
  readonly headSource?: HeadSource
  /** Calls of all clients of this server; `sinceMs` by `performance.now()`. Undefined in reader threads. */
  readonly calls?: { readonly count: number; readonly sinceMs: number }
  readonly log: Logger
  /** Result of `web3_clientVersion`: `Cairn/v0.2.0/linux-x64/node20`. */
  readonly clientVersion: string
}
