import { type ChainSpec, type Rules, rulesAt } from '../chain/eth/forks.js'
import { decodeHeader } from '../chain/eth/header.js'
import type { Header, Receipt, Transaction, Withdrawal } from '../chain/eth/types.js'
import { equalBytes } from '../lib/bytes.js'
import { CairnError } from '../lib/errors.js'
import { type BlockBodies, bodiesOfPacked, createStoredBodies } from './blockBodies.js'
import { type BlockRow, decodeBlockRow } from './blockRows.js'
import { readChainSource, specOfSource } from './chainSource.js'
import { type CommitWatch, createCommitWatch } from './commitWatch.js'
import { createMetaTable, META_CHAIN_ID, META_STATE_MODE, type MetaTable } from './meta.js'
import type { Database } from './open.js'
import { createPackedBlockReader } from './packedBlock.js'

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
  /** Whether any block is held. Once it is true it stays so: no reorg removes the first block. */
  holdsBlocks(): boolean
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
  const stored = createStoredBodies(db)
  const packed = createPackedBlockReader(db)
  const bodies = (block: StoredBlock): BlockBodies => {
    const newest = block.txCount === 0 ? undefined : packed()
    return newest && equalBytes(newest.hash, block.hash) ? bodiesOfPacked(newest) : stored
  }

  const bounds = untilCommit(watch, () => selectHead.get()!)
  const headHash = untilCommit(watch, () => selectHeadHash.get())
  const chainIdText = lastingText(meta, META_CHAIN_ID)
  let chainId: bigint | undefined
  const stateMode = lastingText(meta, META_STATE_MODE)
  let spec: ChainSpec | undefined
  let holdsBlocks = false
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
    holdsBlocks: () => {
      holdsBlocks ||= bounds().head !== null
      return holdsBlocks
    },
    head: () => bounds().head ?? undefined,
    headHash,
    blockByNumber: (number) => blockRow(selectBlock.get(number)),
    blockHash: (number) => selectHash.get(number),
    blockNumberByHash: (hash) => selectNumber.get(hash),
    blockOfLog: (logId) => blockRow(selectBlockOfLog.get(logId)),
    transactionHashes: (block) => bodies(block).transactionHashes(block),
    transactions: (block) => bodies(block).transactions(block),
    transaction: (block, index) => (holds(block, index) ? bodies(block).transaction(block, index) : undefined),
    receipts: (block) => bodies(block).receipts(block),
    receipt: (block, index) => (holds(block, index) ? bodies(block).receipt(block, index) : undefined),
    transactionFees: (block) => bodies(block).transactionFees(block),
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

function holds(block: StoredBlock, index: number): boolean {
  return index >= 0 && index < block.txCount
}
