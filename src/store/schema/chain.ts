import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bytes, uint } from '../columns.js'

/* Layer-1 blocks with their transactions, receipts and logs, and dictionaries. */

/** Database-wide facts as JSON text: chain, coverage, state mode. */
export const meta = sqliteTable('meta', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
})

/** Canonical blocks. A block's transactions are `[first_tx, first_tx + n_tx)`, its logs
 *  `[first_log, first_log + n_logs)`. */
export const blocks = sqliteTable(
  'blocks',
  {
    number: integer('number').primaryKey(),
    hash: bytes('hash').notNull(),
    parentHash: bytes('parent_hash').notNull(),
    unclesHash: bytes('uncles_hash').notNull(),
    miner: bytes('miner').notNull(),
    stateRoot: bytes('state_root').notNull(),
    transactionsRoot: bytes('transactions_root').notNull(),
    receiptsRoot: bytes('receipts_root').notNull(),
    logsBloom: bytes('logs_bloom'), // NULL: all zero
    difficulty: uint('difficulty').notNull(),
    totalDifficulty: uint('total_difficulty').notNull(),
    gasLimit: uint('gas_limit').notNull(),
    gasUsed: uint('gas_used').notNull(),
    timestamp: uint('timestamp').notNull(),
    extraData: bytes('extra_data').notNull(),
    mixHash: bytes('mix_hash').notNull(),
    nonce: bytes('nonce').notNull(),
    baseFeePerGas: uint('base_fee_per_gas'),
    withdrawalsRoot: bytes('withdrawals_root'),
    blobGasUsed: uint('blob_gas_used'),
    excessBlobGas: uint('excess_blob_gas'),
    parentBeaconBlockRoot: bytes('parent_beacon_block_root'),
    requestsHash: bytes('requests_hash'),
    sizeBytes: integer('size').notNull(),
    withdrawals: bytes('withdrawals'), // RLP list; NULL before Shanghai
    firstTx: integer('first_tx').notNull(),
    txCount: integer('n_tx').notNull(),
    firstLog: integer('first_log').notNull(),
    logCount: integer('n_logs').notNull(),
    blockAccessListHash: bytes('block_access_list_hash'),
    slotNumber: uint('slot_number'),
  },
  (t) => [
    uniqueIndex('blocks_by_hash').on(t.hash),
    // Finds the block of a log id. Blocks without logs are excluded, so `first_log` is unique in the index.
    index('blocks_by_first_log').on(t.firstLog).where(sql`n_logs > 0`),
  ],
)

/** The newest blocks removed by reorgs and rewinds, in the order of removal: servers notify their subscribers of them.
 *  Within one transaction the highest block comes first. */
export const removedBlocks = sqliteTable('removed_blocks', {
  id: integer('id').primaryKey(),
  number: integer('number').notNull(),
  hash: bytes('hash').notNull(),
  parentHash: bytes('parent_hash').notNull(),
  logs: bytes('logs').notNull(), // RLP of its logs with their transactions, in Brotli (RFC 7932)
})

/** Uncle (ommer) headers, in the order of the block's list. WITHOUT ROWID. */
export const uncles = sqliteTable(
  'uncles',
  {
    blockNumber: integer('block_number').notNull(),
    index: integer('idx').notNull(),
    hash: bytes('hash').notNull(),
    header: bytes('header').notNull(), // RLP
  },
  (t) => [primaryKey({ columns: [t.blockNumber, t.index] })],
)

/** Access lists of Amsterdam blocks (EIP-7928), for blocks that were imported with `--block-access-lists on`. */
export const blockAccessLists = sqliteTable('block_access_lists', {
  blockNumber: integer('block_number').primaryKey(),
  list: bytes('list').notNull(), // RLP
})

/** Transactions by dense id: the n-th stored transaction has id n. By hash: `transactionSegments`. */
export const transactions = sqliteTable('transactions', {
  id: integer('id').primaryKey(),
  hash: bytes('hash').notNull(),
  blockNumber: integer('block_number').notNull(),
  type: integer('type').notNull(),
  sender: bytes('sender').notNull(),
  recipient: bytes('recipient'), // NULL: contract creation
  chainId: uint('chain_id'),
  nonce: uint('nonce').notNull(),
  gasLimit: uint('gas_limit').notNull(),
  gasPrice: uint('gas_price'),
  maxPriorityFeePerGas: uint('max_priority_fee_per_gas'),
  maxFeePerGas: uint('max_fee_per_gas'),
  value: uint('value').notNull(),
  input: bytes('input').notNull(),
  accessList: bytes('access_list'), // RLP as in the transaction; NULL: the type has none
  maxFeePerBlobGas: uint('max_fee_per_blob_gas'),
  blobVersionedHashes: bytes('blob_versioned_hashes'), // 32 bytes each, one after another
  authorizationList: bytes('authorization_list'), // RLP as in the transaction
  v: uint('v').notNull(),
  r: bytes('r').notNull(), // without leading zeros
  s: bytes('s').notNull(), // without leading zeros
  deposit: bytes('deposit'), // deposits of the OP stack: source hash, flags, mint; NULL for other types
})

/** The receipt of the transaction with the same id. The bloom is computed from the logs on demand. */
export const receipts = sqliteTable('receipts', {
  txId: integer('tx_id').primaryKey(),
  status: integer('status'), // NULL before Byzantium
  root: bytes('root'), // NULL from Byzantium on
  cumulativeGasUsed: uint('cumulative_gas_used').notNull(),
  gasUsed: uint('gas_used').notNull(),
  effectiveGasPrice: uint('effective_gas_price').notNull(),
  contractAddress: bytes('contract_address'),
  blobGasUsed: uint('blob_gas_used'),
  blobGasPrice: uint('blob_gas_price'),
  firstLog: integer('first_log').notNull(),
  logCount: integer('n_logs').notNull(),
})

/** Dictionary of addresses: contracts with logs, accounts of the state history, and addresses of the address index. Ids
 *  are never reused. */
export const addresses = sqliteTable(
  'addresses',
  { id: integer('id').primaryKey(), address: bytes('address').notNull() },
  (t) => [uniqueIndex('addresses_by_address').on(t.address)],
)

/** Dictionary of first topics. Ids are never reused. */
export const topics = sqliteTable(
  'topics',
  { id: integer('id').primaryKey(), topic: bytes('topic').notNull() },
  (t) => [uniqueIndex('topics_by_topic').on(t.topic)],
)

/** Logs by dense id: the n-th stored log has id n; `logIndex` is `id - first_log` of the block. Topics 1 to 3 and data
 *  are stored without leading zero bytes; NULL is an absent topic. */
export const logs = sqliteTable('logs', {
  id: integer('id').primaryKey(),
  txIndex: integer('tx_index').notNull(),
  addressId: integer('address_id').notNull(),
  topic0Id: integer('topic0_id'),
  topic1: bytes('topic1'),
  topic2: bytes('topic2'),
  topic3: bytes('topic3'),
  data: bytes('data').notNull(),
  dataLength: integer('data_length'), // NULL: 32
})
