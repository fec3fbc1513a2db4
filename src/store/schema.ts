import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bytes, uint } from './columns.js'

/* docs/schema.md describes the schema. `npm run migration` generates migrations from this file. Tables marked WITHOUT
 * ROWID are edited by hand in the migration, since drizzle cannot express it. */

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

/** Segments of the log index. A segment of level L covers 8^L chunks of 65,536 log ids from `first_chunk` on. */
export const logSegments = sqliteTable(
  'log_segments',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    level: integer('level').notNull(),
    firstChunk: integer('first_chunk').notNull(),
    state: text('state').notNull(), // building, live, dropped
  },
  (t) => [index('log_segments_by_state').on(t.state, t.firstChunk)],
)

/** Keys of a segment and their postings: `id` is segment * 2^20 + bucket; the blob's layout is in
 *  index/segments/bucket.ts. */
export const logBuckets = sqliteTable('log_buckets', { id: integer('id').primaryKey(), data: bytes('data').notNull() })

/** Postings too large for their bucket: `id` is segment * 2^26 + ordinal; layout in index/segments/postings.ts. */
export const logBigPostings = sqliteTable('log_big_postings', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Segments of the transaction index, which maps transaction hashes to ids. As `logSegments`. */
export const transactionSegments = sqliteTable(
  'transaction_segments',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    level: integer('level').notNull(),
    firstChunk: integer('first_chunk').notNull(),
    state: text('state').notNull(), // building, live, dropped
  },
  (t) => [index('transaction_segments_by_state').on(t.state, t.firstChunk)],
)

/** Hashes of a segment's transactions: `id` is segment * 2^24 + bucket; the blob's layout is in
 *  index/segments/bucket.ts. */
export const transactionBuckets = sqliteTable('transaction_buckets', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Per block, the addresses in which its transactions appear; layout in rows/appearances.ts. Either all stored blocks
 *  up to the last row have one, or the table is empty. */
export const addressAppearances = sqliteTable('address_appearances', {
  blockNumber: integer('block_number').primaryKey(),
  data: bytes('data').notNull(),
})

/** Segments of the address index, which maps addresses to ids of transactions. As `logSegments`. */
export const addressSegments = sqliteTable(
  'address_segments',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    level: integer('level').notNull(),
    firstChunk: integer('first_chunk').notNull(),
    state: text('state').notNull(), // building, live, dropped
  },
  (t) => [index('address_segments_by_state').on(t.state, t.firstChunk)],
)

/** Keys of a segment and their postings, as `logBuckets`. */
export const addressBuckets = sqliteTable('address_buckets', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Postings too large for their bucket, as `logBigPostings`. */
export const addressBigPostings = sqliteTable('address_big_postings', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Contract code by its keccak-256. */
export const code = sqliteTable(
  'code',
  { id: integer('id').primaryKey(), hash: bytes('hash').notNull(), bytes: bytes('bytes').notNull() },
  (t) => [uniqueIndex('code_by_hash').on(t.hash)],
)

/** The fields of an account from `block_number` on, until its next row; the newest rows may be in `account_recent`.
 *  `balance` NULL: the account does not exist. A new incarnation starts with empty storage. WITHOUT ROWID. */
export const accountHistory = sqliteTable(
  'account_history',
  {
    addressId: integer('address_id').notNull(),
    blockNumber: integer('block_number').notNull(),
    nonce: uint('nonce').notNull(),
    balance: uint('balance'),
    codeId: integer('code_id'), // NULL: no code
    incarnation: integer('incarnation').notNull(),
  },
  (t) => [primaryKey({ columns: [t.addressId, t.blockNumber] })],
)

/** The value of a storage slot from `block_number` on. Slot and value are stored without leading zeros; zero is empty.
 *  WITHOUT ROWID. */
export const storageHistory = sqliteTable(
  'storage_history',
  {
    addressId: integer('address_id').notNull(),
    incarnation: integer('incarnation').notNull(),
    slot: bytes('slot').notNull(),
    blockNumber: integer('block_number').notNull(),
    value: bytes('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.addressId, t.incarnation, t.slot, t.blockNumber] })],
)

/** Which accounts and slots each block changed: the rows of the state history with that block number. Encoding in
 *  state/changedKeys.ts; no row for a block that changed none. */
export const changedKeys = sqliteTable('changed_keys', {
  blockNumber: integer('block_number').primaryKey(),
  accounts: bytes('accounts').notNull(),
  slots: bytes('slots').notNull(),
})

/** Rows of `account_history` that were written at the tip and have not moved there yet; see state/recentRows.ts.
 *  WITHOUT ROWID. */
export const accountRecent = sqliteTable(
  'account_recent',
  {
    addressId: integer('address_id').notNull(),
    blockNumber: integer('block_number').notNull(),
    nonce: uint('nonce').notNull(),
    balance: uint('balance'),
    codeId: integer('code_id'),
    incarnation: integer('incarnation').notNull(),
  },
  (t) => [primaryKey({ columns: [t.addressId, t.blockNumber] })],
)

/** As `accountRecent`, of `storage_history`. WITHOUT ROWID. */
export const storageRecent = sqliteTable(
  'storage_recent',
  {
    addressId: integer('address_id').notNull(),
    incarnation: integer('incarnation').notNull(),
    slot: bytes('slot').notNull(),
    blockNumber: integer('block_number').notNull(),
    value: bytes('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.addressId, t.incarnation, t.slot, t.blockNumber] })],
)

/** Accounts of an imported state dump, as they are after its block, by the hashes of their addresses; see
 *  state/stateDump.ts. Ids begin at 1, in the order of the dump. WITHOUT ROWID. */
export const hashedAccounts = sqliteTable('hashed_accounts', {
  hash: bytes('hash').primaryKey(),
  id: integer('id').notNull(),
  nonce: uint('nonce').notNull(),
  balance: uint('balance').notNull(),
  codeId: integer('code_id'), // NULL: no code
  hasStorage: integer('has_storage').notNull(), // 0 or 1
})

/** Storage slots of an imported state dump, by the hash of the slot. The value is stored without leading zeros, and
 *  never empty. WITHOUT ROWID. */
export const hashedStorage = sqliteTable(
  'hashed_storage',
  {
    accountId: integer('account_id').notNull(),
    slotHash: bytes('slot_hash').notNull(),
    value: bytes('value').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.slotHash] })],
)

/** Pages of the trie of the newest state, for computing its root, but for what `trie_layers` change; layout in
 *  trie/nodeFormat.ts. The meta key `state_trie` points to the root node. */
export const stateTriePages = sqliteTable('state_trie_pages', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Changes of `state_trie_pages` by the newest blocks, oldest first; see state/trieLayers.ts. */
export const trieLayers = sqliteTable('trie_layers', {
  id: integer('id').primaryKey({ autoIncrement: true }), // never used again: readers know a layer by its id
  blockNumber: integer('block_number').notNull(), // the first block with these contents
  top: bytes('top').notNull(), // the reference to the root node before it
  accounts: integer('accounts').notNull(), // before it
  parts: integer('parts').notNull(), // number of its rows in `trie_layer_parts`
})

/** Contents of layers: `id` is layer * 2^20 + ordinal; layout in state/trieLayers.ts. */
export const trieLayerParts = sqliteTable('trie_layer_parts', {
  id: integer('id').primaryKey(),
  data: bytes('data').notNull(),
})

/** Past contents of `state_trie_pages`, for tries of blocks before the newest that were not stored as layers; see
 *  state/trieHistory.ts. */
export const triePageVersions = sqliteTable(
  'trie_page_versions',
  {
    pageId: integer('page_id').notNull(), // 0: the reference to the root node; below: see state/trieHistory.ts
    blockNumber: integer('block_number').notNull(), // the block that replaced the content
    data: bytes('data').notNull(),
  },
  (t) => [
    uniqueIndex('trie_page_versions_by_page').on(t.pageId, t.blockNumber),
    index('trie_page_versions_by_block').on(t.blockNumber),
  ],
)

/** What was added to sparse state, in the order of commits, for replicas; see replication/stateLog.ts. */
export const stateLog = sqliteTable(
  'state_log',
  {
    id: integer('id').primaryKey(), // ascending, never used again
    at: integer('at').notNull(), // the block in whose state it was proved
    kind: integer('kind').notNull(), // 0 fetched, 1 of the next block, 2 begin, 3 close, 4 ancestors
    data: bytes('data').notNull(),
  },
  (t) => [index('state_log_by_block').on(t.at)],
)

/** All layer-2 blocks that were ever canonical or rejected. Felts are 32 bytes; prices reach u128, hence `uint`. */
export const l2Blocks = sqliteTable(
  'l2_blocks',
  {
    hash: bytes('hash').primaryKey(),
    number: integer('number').notNull(),
    parentHash: bytes('parent_hash').notNull(),
    newRoot: bytes('new_root').notNull(),
    timestamp: integer('timestamp').notNull(),
    sequencer: bytes('sequencer'), // NULL: upstream named none
    version: text('version'), // NULL: upstream named none
    l1Wei: uint('l1_wei'),
    l1Fri: uint('l1_fri'),
    l1DataWei: uint('l1_data_wei'),
    l1DataFri: uint('l1_data_fri'),
    l2Wei: uint('l2_wei'),
    l2Fri: uint('l2_fri'),
    daMode: integer('da_mode'), // 0 CALLDATA, 1 BLOB, NULL: not named
    transactionCommitment: bytes('transaction_commitment'),
    eventCommitment: bytes('event_commitment'),
    receiptCommitment: bytes('receipt_commitment'),
    stateDiffCommitment: bytes('state_diff_commitment'),
    txCount: integer('tx_count').notNull(),
    eventCount: integer('event_count'),
    stateDiffLength: integer('state_diff_length'),
    canonical: integer('canonical').notNull(), // 0 or 1
    verified: integer('verified'), // 1 hash recomputed, 0 known unverifiable, NULL not tried
    upstreamStatus: text('upstream_status'),
    seenAt: integer('seen_at').notNull(), // Unix seconds
    orphanedAt: integer('orphaned_at'),
    raw: bytes('raw'), // the recording as received, deflated
  },
  (t) => [uniqueIndex('l2_blocks_by_number').on(t.number).where(sql`canonical = 1`)],
)

/** Transaction hashes of layer-2 blocks. WITHOUT ROWID. */
export const l2BlockTxs = sqliteTable(
  'l2_block_txs',
  { blockHash: bytes('block_hash').notNull(), index: integer('idx').notNull(), txHash: bytes('tx_hash').notNull() },
  (t) => [primaryKey({ columns: [t.blockHash, t.index] }), index('l2_block_txs_by_hash').on(t.txHash)],
)

/** Events of canonical layer-2 blocks; layout in l2/eventCodec.ts. */
export const l2Events = sqliteTable(
  'l2_events',
  {
    number: integer('number').primaryKey(),
    events: bytes('events'), // NULL: only the recording has them, or nothing
  },
  (t) => [index('l2_events_not_indexed').on(t.number).where(sql`events IS NULL`)],
)

/** Index of `l2_events`: blocks by address and key (`termOf` in l2/eventCodec.ts). WITHOUT ROWID. */
export const l2EventTerms = sqliteTable(
  'l2_event_terms',
  { term: integer('term').notNull(), number: integer('number').notNull() },
  (t) => [primaryKey({ columns: [t.term, t.number] })],
)

/** The pending layer-2 block, at most one per slot ('pending'). `json` is the normalised block. */
export const l2Pending = sqliteTable('l2_pending', {
  slot: text('slot').primaryKey(),
  number: integer('number'),
  parentHash: bytes('parent_hash'),
  json: text('json').notNull(),
  fetchedAt: integer('fetched_at').notNull(),
  raw: bytes('raw'), // the recording as received, deflated
})

/** One row: the highest layer-2 block accepted on layer 1: that of `claimed_number` or of a matching state update,
 *  whichever is higher. */
export const l2State = sqliteTable('l2_state', {
  id: integer('id').primaryKey(),
  l1HeadNumber: integer('l1_head_number'),
  l1HeadHash: bytes('l1_head_hash'),
  finalitySource: text('finality_source'), // file, upstream, logs
  claimedNumber: integer('claimed_number'), // highest block that a file or an upstream calls ACCEPTED_ON_L1
  claimedSource: text('claimed_source'), // file, upstream
})

/** `LogStateUpdate` logs of Starknet core contracts in `logs`: layer 1 accepted this layer-2 block. WITHOUT ROWID. */
export const l2StateUpdates = sqliteTable(
  'l2_state_updates',
  {
    l1Block: integer('l1_block').notNull(),
    logIndex: integer('log_index').notNull(),
    contract: bytes('contract').notNull(),
    number: integer('number').notNull(),
    hash: bytes('hash').notNull(),
    matches: integer('matches'), // 1 the canonical block `number` has this hash, 0 another; NULL: it is not available
  },
  (t) => [
    primaryKey({ columns: [t.l1Block, t.logIndex] }),
    index('l2_state_updates_by_number').on(t.number),
    index('l2_state_updates_matching').on(t.number).where(sql`matches = 1`),
  ],
)

/** API keys by the SHA-256 of their 32 hex digits; the key itself is not stored. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    name: text('name').notNull(),
    hash: bytes('hash').notNull(),
    createdAt: integer('created_at').notNull(), // Unix seconds
    revokedAt: integer('revoked_at'),
    // Limits of this key; NULL: no limit of its own
    rateLimit: integer('rate_limit'), // calls per second
    maxConcurrent: integer('max_concurrent'), // calls
    methods: text('methods'), // patterns, joined by commas
  },
  (t) => [uniqueIndex('api_keys_by_hash').on(t.hash)],
)

/** ABIs added by the operator, to decode logs and inputs. Ids are never reused. */
export const abis = sqliteTable('abis', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
  address: bytes('address'), // NULL: any contract
  json: text('json').notNull(),
  addedAt: integer('added_at').notNull(), // Unix seconds
  // Of a Sourcify bundle; NULL for an ABI of a file, and where the bundle does not say it
  compiler: text('compiler'), // such as 0.8.26+commit.8a97fa7a
  sourcifyMatch: text('sourcify_match'), // full, partial
  metadataMatches: integer('metadata_matches'), // 1 the code names the bundle's metadata, 0: not compared
})

/** Files of function and event signatures that the operator added, for guesses. Ids are never reused. */
export const signatureSets = sqliteTable('signature_sets', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
  functions: integer('functions').notNull(),
  events: integer('events').notNull(),
  addedAt: integer('added_at').notNull(), // Unix seconds
})

/** Signatures of a set, sorted by the first 4 bytes of their hash. */
export const signaturePages = sqliteTable(
  'signature_pages',
  {
    setId: integer('set_id').notNull(),
    kind: integer('kind').notNull(), // 0 functions and errors, 1 events
    firstKey: integer('first_key').notNull(), // first 4 bytes of the first signature's hash, as a number
    data: bytes('data').notNull(), // deflated lines
  },
  (t) => [primaryKey({ columns: [t.setId, t.kind, t.firstKey] })],
)
