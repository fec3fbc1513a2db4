import { bloomOf } from '../chain/eth/bloom.js'
import { type ChainSpec, type Rules, rulesAt } from '../chain/eth/forks.js'
import { decodeHeader } from '../chain/eth/header.js'
import type { Header, Log, Receipt, Transaction, Withdrawal } from '../chain/eth/types.js'
import { CairnError } from '../lib/errors.js'
import {
  type BlockRow,
  decodeBlockRow,
  decodeLogData,
  decodeReceiptRow,
  decodeTopics,
  decodeTransactionRow,
  type ReceiptRow,
  type TransactionRow,
} from './blockRows.js'
import { readChainSource, specOfSource } from './chainSource.js'
import { decodeUint, type StoredUint } from './columns.js'
import { type CommitWatch, createCommitWatch } from './commitWatch.js'
import { createMetaTable, META_CHAIN_ID, META_STATE_MODE, type MetaTable } from './meta.js'
import type { Database } from './open.js'

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
  /** Number of the newest block; undefined when no block is held. */
  head(): number | undefined
  /** Hash of the newest block, 32 bytes; undefined when no block is held. */
  headHash(): Uint8Array | undefined
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

/** Nothing was imported into the database yet. */
export class EmptyDatabase extends CairnError {
  constructor() {
    super('the database holds no chain yet; import one first')
  }
}

interface LogRow {
  address: Uint8Array
  topic0: Uint8Array | null
  topic1: Uint8Array | null
  topic2: Uint8Array | null
  topic3: Uint8Array | null
  data: Uint8Array
  data_length: number | null
}

const RECEIPT_COLUMNS = `t.type, r.status, r.root, r.cumulative_gas_used, r.gas_used, r.effective_gas_price,
  r.contract_address, r.blob_gas_used, r.blob_gas_price, r.first_log, r.n_logs`

/** A reader over an open database, its statements prepared once. `watch` is the connection's, where there is one. */
export function createChainReader(db: Database, watch: CommitWatch = createCommitWatch(db)): ChainReader {
  const meta = createMetaTable(db)
  const selectHead = db.prepare<[], { first: number | null; head: number | null }>(
    'SELECT (SELECT min(number) FROM blocks) AS first, (SELECT max(number) FROM blocks) AS head',
  )
  const selectHeadHash = db.prepare<[], Uint8Array>('SELECT hash FROM blocks ORDER BY number DESC LIMIT 1').pluck()
  const selectBlock = db.prepare<[number], BlockRow>('SELECT * FROM blocks WHERE number = ?')
  const selectNumber = db.prepare<[Uint8Array], number>('SELECT number FROM blocks WHERE hash = ?').pluck()
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
  const selectBlockOfLog = db.prepare<[number], BlockRow>(
    'SELECT * FROM blocks WHERE n_logs > 0 AND first_log <= ? ORDER BY first_log DESC LIMIT 1',
  )
  const selectHashes = db
    .prepare<[number, number], Uint8Array>('SELECT hash FROM transactions WHERE id >= ? AND id < ? ORDER BY id')
    .pluck()
  const selectTransactions = db.prepare<[number, number], TransactionRow>(
    'SELECT * FROM transactions WHERE id >= ? AND id < ? ORDER BY id',
  )
  const selectReceipts = db.prepare<[number, number], ReceiptRow>(
    `SELECT ${RECEIPT_COLUMNS} FROM receipts r JOIN transactions t ON t.id = r.tx_id
     WHERE r.tx_id >= ? AND r.tx_id < ? ORDER BY r.tx_id`,
  )
  const selectFees = db.prepare<[number, number], { gas_used: StoredUint; effective_gas_price: StoredUint }>(
    'SELECT gas_used, effective_gas_price FROM receipts WHERE tx_id >= ? AND tx_id < ? ORDER BY tx_id',
  )
  const selectLogs = db.prepare<[number, number], LogRow>(
    `SELECT a.address, z.topic AS topic0, l.topic1, l.topic2, l.topic3, l.data, l.data_length
     FROM logs l JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id
     WHERE l.id >= ? AND l.id < ? ORDER BY l.id`,
  )
  const selectUncleHashes = db
    .prepare<[number], Uint8Array>('SELECT hash FROM uncles WHERE block_number = ? ORDER BY idx')
    .pluck()
  const selectUncle = db
    .prepare<[number, number], Uint8Array>('SELECT header FROM uncles WHERE block_number = ? AND idx = ?')
    .pluck()
  const selectUncles = db
    .prepare<[number], Uint8Array>('SELECT header FROM uncles WHERE block_number = ? ORDER BY idx')
    .pluck()

  const blockRow = (row: BlockRow | undefined) => row && decodeBlockRow(row)
  const receiptRange = (from: number, to: number) =>
    selectReceipts.all(from, to).map((row) => {
      const receipt = decodeReceiptRow(row)
      if (row.n_logs > 0) {
        receipt.logs = selectLogs.all(row.first_log, row.first_log + row.n_logs).map(decodeLogRow)
        receipt.logsBloom = bloomOf(receipt.logs)
      }
      return { receipt, firstLog: row.first_log }
    })
  const inBlock = (block: StoredBlock, index: number) => index >= 0 && index < block.txCount

  const bounds = untilCommit(watch, () => selectHead.get()!)
  const headHash = untilCommit(watch, () => selectHeadHash.get())
  const chainIdText = lastingText(meta, META_CHAIN_ID)
  let chainId: bigint | undefined
  const stateMode = lastingText(meta, META_STATE_MODE)
  let spec: ChainSpec | undefined
  const requireSpec = () => {
    const source = spec ? undefined : readChainSource(db)
    if (source) spec = specOfSource(source)
    if (!spec) throw new EmptyDatabase()
    return spec
  }

  return {
    spec: requireSpec,
    rulesOf: ({ header, totalDifficulty }) =>
      rulesAt(requireSpec(), header.number, header.timestamp, totalDifficulty - header.difficulty),
    chainId: () => {
      if (chainId !== undefined) return chainId
      const text = chainIdText()
      if (text === undefined) throw new EmptyDatabase()
      chainId = BigInt(text)
      return chainId
    },
    coverage: () => {
      const row = bounds()
      if (row.first === null || row.head === null) return undefined
      const executed = stateMode() === 'execute'
      return { first: row.first, head: row.head, stateFirst: executed ? row.first : undefined }
    },
    head: () => bounds().head ?? undefined,
    headHash,
    blockByNumber: (number) => blockRow(selectBlock.get(number)),
    blockHash: (number) => selectHash.get(number),
    blockNumberByHash: (hash) => selectNumber.get(hash),
    blockOfLog: (logId) => blockRow(selectBlockOfLog.get(logId)),
    transactionHashes: (block) => selectHashes.all(block.firstTx, block.firstTx + block.txCount),
    transactions: (block) =>
      selectTransactions.all(block.firstTx, block.firstTx + block.txCount).map(decodeTransactionRow),
    transaction: (block, index) => {
      if (!inBlock(block, index)) return undefined
      const id = block.firstTx + index
      return decodeTransactionRow(selectTransactions.get(id, id + 1)!)
    },
    receipts: (block) => receiptRange(block.firstTx, block.firstTx + block.txCount),
    receipt: (block, index) =>
      inBlock(block, index) ? receiptRange(block.firstTx + index, block.firstTx + index + 1)[0] : undefined,
    transactionFees: (block) =>
      selectFees.all(block.firstTx, block.firstTx + block.txCount).map((row) => ({
        gasUsed: decodeUint(row.gas_used),
        effectiveGasPrice: decodeUint(row.effective_gas_price),
      })),
    uncleHashes: (blockNumber) => selectUncleHashes.all(blockNumber),
    uncle: (blockNumber, index) => {
      const header = selectUncle.get(blockNumber, index)
      return header && decodeHeader(header)
    },
    uncles: (blockNumber) => selectUncles.all(blockNumber).map((header) => decodeHeader(header)),
  }
}

/** What `read` gave since another connection has committed last. To ask for that takes a third of the time of reading the
 *  head. A connection that writes reads each time: its own commits do not count. */
function untilCommit<T>(watch: CommitWatch, read: () => T): () => T {
  let seen: number | undefined
  let value: T
  return () => {
    // Before the reading: a commit in between makes the value newer than the version says, and it is read once more.
    const now = watch.version()
    if (now === undefined) return read()
    if (now !== seen) {
      watch.beforeRead()
      value = read()
      seen = now
    }
    return value as T
  }
}

/** Reads a fact that is never changed once it is there; every call asks for some of them. */
function lastingText(meta: MetaTable, key: string): () => string | undefined {
  let known: string | undefined
  return () => {
    known ??= meta.get<string>(key)
    return known
  }
}

function decodeLogRow(row: LogRow): Log {
  return {
    address: row.address,
    topics: decodeTopics(row.topic0, row.topic1, row.topic2, row.topic3),
    data: decodeLogData(row.data, row.data_length),
  }
}
