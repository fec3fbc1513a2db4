import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { bytes } from '../columns.js'

/* Indexes: of logs, transaction hashes, addresses and calls. */

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

/** Per block, the calls of its transactions; layout in rows/callTraces.ts. Either all stored blocks up to the last row
 *  have one, or the table is empty. */
export const traces = sqliteTable('traces', {
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
