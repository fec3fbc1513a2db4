import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { bytes, uint } from '../columns.js'

/* Layer-2 blocks and their acceptance on layer 1. */

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
