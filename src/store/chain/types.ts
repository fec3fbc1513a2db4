import type { ChainSpec, Rules } from '../../chain/eth/forks.js'
import type { Header, Receipt, Transaction, Withdrawal } from '../../chain/eth/types.js'

/** A canonical block's row: the header and where its parts lie, without the parts. */
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
  /** `logsBloom` is made from the logs. */
  receipt: Receipt
  /** Id of the receipt's first log; minus the block's `firstLog` it is the log's index in the block. */
  firstLog: number
}

/** What a transaction used and paid: the two numbers of its receipt that fee statistics need. */
export interface TransactionFee {
  gasUsed: bigint
  effectiveGasPrice: bigint
}

/** Which blocks are held: all of [first, head], both inclusive. State is held for [stateFirst, head] or not at all. */
export interface Coverage {
  first: number
  head: number
  /** Undefined when blocks were imported without execution. */
  stateFirst?: number
}

/** How far blocks count as safe and as final: block numbers, -1 for none yet. */
export interface Finality {
  readonly safe: number
  readonly finalized: number
}

/** Reads of the Ethereum column. Each call sees the newest commit; nothing is cached that a commit could change. */
export interface ChainReader {
  /** The chain that the database holds. @throws EmptyDatabase when nothing was imported yet. */
  chainId(): bigint
  /** The rules of the chain; read once. @throws EmptyDatabase when nothing was imported yet. */
  spec(): ChainSpec
  /** The rules in force at a held block. */
  rulesOf(block: StoredBlock): Rules
  /** Undefined when no block is held. */
  coverage(): Coverage | undefined
  /** Whether any block is held. Once it is true it stays so: no reorg removes the first block. */
  holdsBlocks(): boolean
  /** Number of the newest block; undefined when no block is held. */
  head(): number | undefined
  /** Hash of the newest block, 32 bytes; undefined when no block is held. */
  headHash(): Uint8Array | undefined
  /** How far blocks are safe and final: the head where nothing was ever said of it, as with blocks from files. Undefined when
   *  no block is held. */
  finality(): Finality | undefined
  blockByNumber(number: number): StoredBlock | undefined
  blockNumberByHash(hash: Uint8Array): number | undefined
  /** 32 bytes; undefined when the block is not held. */
  blockHash(number: number): Uint8Array | undefined
  /** The block that holds log `logId`. */
  blockOfLog(logId: number): StoredBlock | undefined
  /** Hashes of the block's transactions in order, 32 bytes each. */
  transactionHashes(block: StoredBlock): Uint8Array[]
  transactions(block: StoredBlock): Transaction[]
  transaction(block: StoredBlock, index: number): Transaction | undefined
  /** Receipts of the block in order, with logs. */
  receipts(block: StoredBlock): StoredReceipt[]
  receipt(block: StoredBlock, index: number): StoredReceipt | undefined
  /** What each transaction of the block used and paid, in order. */
  transactionFees(block: StoredBlock): TransactionFee[]
  /** Hashes of the block's uncles, in the order of its list. */
  uncleHashes(blockNumber: number): Uint8Array[]
  uncle(blockNumber: number, index: number): Header | undefined
  uncles(blockNumber: number): Header[]
}
