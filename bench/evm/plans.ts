/* What goes to and comes from the processes of the benchmark. */

/** What executes: our interpreter over SQLite, that of @ethereumjs over the same (`--evm reference`), or the packages
 *  as they come: @ethereumjs/vm with its Merkle state manager in memory and its JavaScript crypto. */
export const ENGINES = ['cairn', 'reference', 'defaults'] as const
export type EngineName = (typeof ENGINES)[number]

/** Calls at the head of a database, one after another in one process. */
export interface CallsPlan {
  engine: EngineName
  datadir: string
  names: string[]
  seconds: number
  /** Seconds before those that count. */
  warmSeconds: number
}

export interface CallsResult {
  name: string
  perSecond: number
  calls: number
}

/** A chain in a file, and where it begins. */
export interface ChainFile {
  path: string
  /** A genesis in geth's format, or a network that is built in. */
  genesis?: string
  network?: 'mainnet' | 'sepolia'
}

/** Imports of the same chain until the time is used up. */
export interface ImportPlan {
  engine: EngineName
  chain: ChainFile
  /** Where databases are made. */
  directory: string
  seconds: number
  /** Seconds before those that count. */
  warmSeconds: number
  /** Stores access lists (EIP-7928). */
  blockAccessLists?: boolean
}

/** What the imports did. An import that the end of the time cuts off counts with the blocks that it did. */
export interface ImportResult {
  blocksPerSecond: number
  mgasPerSecond: number
  /** Of the first import, with no code compiled yet. */
  firstBlocksPerSecond: number
  /** Of one import: the whole chain, unless one was not through when the time was up. */
  blocks: number
  mgas: number
  imports: number
  /** After the first import: of the database without its genesis, and of the access lists in it. */
  databaseBytes: number
  accessListBytes: number
}

/** What came of imports by an engine: figures, or why it cannot execute the chain. */
export type ImportOutcome = ImportResult | { readonly failure: string }

/** Imports of a chain with and without the trace index, in turn. */
export interface TraceIndexPlan {
  name: string
  chain: ChainFile
  /** Where databases are made. */
  directory: string
  /** Imports of each kind that count. */
  rounds: number
}

/** Processor time in milliseconds, the median of the rounds or requests, and sizes. */
export interface TraceIndexFigures {
  name: string
  rounds: number
  blocks: number
  withoutMsPerBlock: number
  withMsPerBlock: number
  transactionsPerBlock: number
  callsPerBlock: number
  /** Of the rows of the index. */
  bytesPerBlock: number
  bytesPerCall: number
  /** Per block, each by itself: execution without and with the recorder, and encoding and writing the row. */
  executionMs: number
  recordedMs: number
  rowMs: number
  requests: { name: string; withoutMs: number; withMs: number }[]
}

/** Requests to a server, as many at a time as there are connections. */
export interface ClientPlan {
  url: string
  /** The process of the server. */
  serverPid: number
  shape: string
  connections: number
  seconds: number
  warmSeconds: number
  /** What some of the variants must return, as hex, by variant. */
  expected: { [variant: number]: string }
}

export interface ClientResult {
  perSecond: number
  requests: number
  p50Ms: number
  p99Ms: number
  /** Share of a core that the client used: near 1 it is what is measured. */
  clientCpu: number
  /** Processor time of all threads of the server per request, in milliseconds: depends less than rates on what else
   *  runs on the machine. Undefined where the system does not say. */
  serverCpuMs?: number
}
