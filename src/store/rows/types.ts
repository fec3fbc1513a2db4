import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Header, Log, Receipt, Transaction, Withdrawal } from '../../chain/eth/types.js'
import type { Coverage } from './coverage.js'

/** A canonical block's row: the header and the id ranges of its parts, without the parts. */
export interface StoredBlock {
  hash: Uint8Array // 32
  header: Header
  totalDifficulty: bigint
  sizeBytes: number
  withdrawals?: Withdrawal[]
  firstTx: number
  txCount: number
  firstLog: number
  logCount: number
}
export interface StoredReceipt {
  /** `logsBloom` is computed from the logs. */
  receipt: Receipt
  /** Id of the receipt's first log; minus the block's `firstLog` it is the `logIndex` of that log. */
  firstLog: number
}

/** Position of a log in the chain. */
export interface LogPosition {
  blockNumber: number
  blockHash: Uint8Array // 32
  blockTimestamp: bigint // Unix seconds
  transactionHash: Uint8Array // 32
  transactionIndex: number
  logIndex: number
}

/** A log with its position. */
export interface StoredLog {
  readonly log: Log
  readonly position: LogPosition
}

/** The parts of a log that are indexed. */
export type IndexedLog = Pick<Log, 'address' | 'topics'>

/** Gas used and fee paid by a transaction: the two receipt fields that fee statistics need. */
export interface TransactionFee {
  gasUsed: bigint
  effectiveGasPrice: bigint
}

/** Blocks that exist but are not available, both inclusive. */
export interface Gap {
  readonly from: number
  readonly to: number
}

/** Safe and finalized block numbers; -1 for none yet. */
export interface Finality {
  readonly safe: number
  readonly finalized: number
}

/** Reads of Ethereum blocks. Each call sees the newest commit; nothing is cached that a commit could change. */
export interface ChainReader {
  /** Chain id of the database. @throws EmptyDatabase before the first import. */
  chainId(): bigint
  /** Fork schedule and rules of the chain; read once. @throws EmptyDatabase before the first import. */
  spec(): ChainSpec
  /** True if the state root of that block's header is that of the state: `commitsToState` of the chain's rules, and
   *  before `unverifiedFrom`. */
  commitsToState(blockNumber: number): boolean
  /** On a development chain, the first block from which on state roots are not compared; undefined when all are
   *  compared. */
  unverifiedFrom(): number | undefined
  /** The rules in force at a stored block. */
  rulesOf(block: StoredBlock): Rules
  /** Undefined when the chain is empty. */
  coverage(): Coverage | undefined
  /** The blocks between the head and that of the upstreams, while they are more than a few; undefined otherwise, and
   *  when the chain is empty. */
  gap(): Gap | undefined
  /** True when the chain has a block. It stays true: no reorg removes the first block. */
  holdsBlocks(): boolean
  /** Number of the newest block; undefined when the chain is empty. */
  head(): number | undefined
  /** Hash of the newest block, 32 bytes; undefined when the chain is empty. */
  headHash(): Uint8Array | undefined
  /** Safe and finalized blocks. Defaults to the head when nothing was recorded, as for blocks from files. Undefined
   *  when the chain is empty. */
  finality(): Finality | undefined
  blockByNumber(number: number): StoredBlock | undefined
  blockNumberByHash(hash: Uint8Array): number | undefined
  /** 32 bytes; undefined when the block is not stored. */
  blockHash(number: number): Uint8Array | undefined
  /** As `blockHash`, also of the 256 blocks before the first one where these are known: for BLOCKHASH. */
  ancestorHash(number: number): Uint8Array | undefined
  /** The block that contains log `logId`. */
  blockOfLog(logId: number): StoredBlock | undefined
  /** Hashes of the block's transactions in order, 32 bytes each. */
  transactionHashes(block: StoredBlock): Uint8Array[]
  transactions(block: StoredBlock): Transaction[]
  transaction(block: StoredBlock, index: number): Transaction | undefined
  /** Receipts of the block in order, with logs. */
  receipts(block: StoredBlock): StoredReceipt[]
  receipt(block: StoredBlock, index: number): StoredReceipt | undefined
  /** Gas used and fee of each transaction of the block, in order. */
  transactionFees(block: StoredBlock): TransactionFee[]
  /** Hashes of the block's uncles, in the order of its list. */
  uncleHashes(blockNumber: number): Uint8Array[]
  uncle(blockNumber: number, index: number): Header | undefined
  uncles(blockNumber: number): Header[]
  /** RLP of the block's access list (EIP-7928); undefined if it is not stored. */
  blockAccessList(blockNumber: number): Uint8Array | undefined
}
