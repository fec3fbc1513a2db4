import { integer, real, sqliteView, text } from 'drizzle-orm/sqlite-core'
import type { BlocksRow, Erc20TransfersRow, L2BlocksRow, LogsRow, ReceiptsRow, TransactionsRow } from './viewRows.js'

export type * from './viewRows.js'

/* The views of a database for drizzle. Columns are those of docs/schema.md; test/store/views.test.ts checks them. */

/** A view for `from` of drizzle. Its type names nothing of drizzle-orm, whose declarations do not check without
 *  `skipLibCheck`: annotate results with the row types, as in
 *  `const rows: BlocksRow[] = db.select().from(blocksView).all()`. */
// biome-ignore lint/suspicious/noExplicitAny: what drizzle accepts has symbols of drizzle as members
export type AnyView = any

type Exactly<A, B> = [A] extends [B] ? ([B] extends [A] ? unknown : never) : never

/** Checks that the columns of a view are those of its row type. */
function viewOf<Row>(): <Found>(view: { $inferSelect: Found } & Exactly<Found, Row>) => AnyView {
  return (view) => view
}

/** Blocks of the canonical chain. */
export const blocksView: AnyView = viewOf<BlocksRow>()(
  sqliteView('v_blocks', {
    number: integer('number').notNull(),
    hash: text('hash').notNull(),
    parentHash: text('parent_hash').notNull(),
    timestamp: integer('timestamp').notNull(),
    time: text('time'),
    miner: text('miner').notNull(),
    difficulty: text('difficulty').notNull(),
    totalDifficulty: text('total_difficulty').notNull(),
    gasLimit: integer('gas_limit').notNull(),
    gasUsed: integer('gas_used').notNull(),
    baseFeePerGas: text('base_fee_per_gas'),
    blobGasUsed: integer('blob_gas_used'),
    excessBlobGas: integer('excess_blob_gas'),
    size: integer('size').notNull(),
    transactionCount: integer('transaction_count').notNull(),
    logCount: integer('log_count').notNull(),
    uncleCount: integer('uncle_count').notNull(),
    stateRoot: text('state_root').notNull(),
    transactionsRoot: text('transactions_root').notNull(),
    receiptsRoot: text('receipts_root').notNull(),
    withdrawalsRoot: text('withdrawals_root'),
    requestsHash: text('requests_hash'),
    parentBeaconBlockRoot: text('parent_beacon_block_root'),
    unclesHash: text('uncles_hash').notNull(),
    extraData: text('extra_data').notNull(),
    mixHash: text('mix_hash').notNull(),
    nonce: text('nonce').notNull(),
    blockAccessListHash: text('block_access_list_hash'),
    slotNumber: integer('slot_number'),
  }).existing(),
)

/** Transactions, in chain order. */
export const transactionsView: AnyView = viewOf<TransactionsRow>()(
  sqliteView('v_transactions', {
    blockNumber: integer('block_number').notNull(),
    blockHash: text('block_hash').notNull(),
    timestamp: integer('timestamp').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    hash: text('hash').notNull(),
    type: integer('type').notNull(),
    from: text('from').notNull(),
    to: text('to'),
    nonce: integer('nonce').notNull(),
    value: text('value').notNull(),
    valueEth: real('value_eth').notNull(),
    gasLimit: integer('gas_limit').notNull(),
    gasPrice: text('gas_price'),
    maxFeePerGas: text('max_fee_per_gas'),
    maxPriorityFeePerGas: text('max_priority_fee_per_gas'),
    maxFeePerBlobGas: text('max_fee_per_blob_gas'),
    blobCount: integer('blob_count'),
    input: text('input').notNull(),
    selector: text('selector'),
    chainId: text('chain_id'),
  }).existing(),
)

/** Transactions with their results. */
export const receiptsView: AnyView = viewOf<ReceiptsRow>()(
  sqliteView('v_receipts', {
    blockNumber: integer('block_number').notNull(),
    blockHash: text('block_hash').notNull(),
    timestamp: integer('timestamp').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    transactionHash: text('transaction_hash').notNull(),
    type: integer('type').notNull(),
    from: text('from').notNull(),
    to: text('to'),
    contractAddress: text('contract_address'),
    status: integer('status'),
    root: text('root'),
    gasUsed: integer('gas_used').notNull(),
    cumulativeGasUsed: integer('cumulative_gas_used').notNull(),
    effectiveGasPrice: text('effective_gas_price').notNull(),
    feeEth: real('fee_eth').notNull(),
    blobGasUsed: integer('blob_gas_used'),
    blobGasPrice: text('blob_gas_price'),
    logCount: integer('log_count').notNull(),
  }).existing(),
)

/** Logs, in chain order. */
export const logsView: AnyView = viewOf<LogsRow>()(
  sqliteView('v_logs', {
    blockNumber: integer('block_number').notNull(),
    blockHash: text('block_hash').notNull(),
    timestamp: integer('timestamp').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    transactionHash: text('transaction_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    address: text('address').notNull(),
    topic0: text('topic0'),
    topic1: text('topic1'),
    topic2: text('topic2'),
    topic3: text('topic3'),
    data: text('data').notNull(),
    dataLength: integer('data_length').notNull(),
  }).existing(),
)

/** ERC-20 transfers, in chain order. */
export const erc20TransfersView: AnyView = viewOf<Erc20TransfersRow>()(
  sqliteView('v_erc20_transfers', {
    blockNumber: integer('block_number').notNull(),
    timestamp: integer('timestamp').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    transactionHash: text('transaction_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    address: text('address').notNull(),
    from: text('from').notNull(),
    to: text('to').notNull(),
    value: text('value').notNull(),
  }).existing(),
)

/** Layer-2 blocks. */
export const l2BlocksView: AnyView = viewOf<L2BlocksRow>()(
  sqliteView('v_l2_blocks', {
    number: integer('number').notNull(),
    hash: text('hash').notNull(),
    parentHash: text('parent_hash').notNull(),
    newRoot: text('new_root').notNull(),
    timestamp: integer('timestamp').notNull(),
    time: text('time'),
    sequencer: text('sequencer'),
    version: text('version'),
    status: text('status').notNull(),
    transactionCount: integer('transaction_count').notNull(),
    eventCount: integer('event_count'),
    l1GasPriceWei: text('l1_gas_price_wei'),
    l1GasPriceFri: text('l1_gas_price_fri'),
    l1DataGasPriceWei: text('l1_data_gas_price_wei'),
    l1DataGasPriceFri: text('l1_data_gas_price_fri'),
    l2GasPriceWei: text('l2_gas_price_wei'),
    l2GasPriceFri: text('l2_gas_price_fri'),
    l1DaMode: text('l1_da_mode'),
    verified: integer('verified'),
  }).existing(),
)
