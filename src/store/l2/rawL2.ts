import type { Database } from '../database.js'
import type { RawRow } from '../rows/rawRows.js'
import { L2_BLOCK_COLUMNS } from './l2Rows.js'

/** Stored rows of layer-2 blocks, for an audit. */
export interface RawL2 {
  /** Number of blocks. */
  count(): number
  /** All blocks with `upstream_status`, `orphaned_at` and `raw`, by number. */
  blocks(): IterableIterator<RawRow>
  /** Rows of `l2_block_txs`, by index. */
  transactions(blockHash: Uint8Array): RawRow[]
  /** Hash of the canonical block with that number. */
  canonicalHash(number: number): Uint8Array | undefined
  /** Block hash of a row in `l2_block_txs` whose block is not stored. */
  strayTransaction(): Uint8Array | undefined
  /** The row of `l2_events`. */
  events(number: number): RawRow | undefined
  hasTerm(term: number, number: number): boolean
  /** Number of a row in `l2_events` or `l2_event_terms` without canonical block. */
  strayEvents(): number | undefined
  state(): RawRow[]
  /** Rows of `l2_state_updates`, in the order of the logs. */
  stateUpdates(): RawRow[]
}

/** Creates a reader of raw rows over an open database, with statements prepared once. */
export function createRawL2(db: Database): RawL2 {
  const count = db.prepare<[], number>('SELECT count(*) FROM l2_blocks').pluck()
  const blocks = db.prepare<[], RawRow>(
    `SELECT ${L2_BLOCK_COLUMNS}, upstream_status, orphaned_at, raw FROM l2_blocks ORDER BY number, hash`,
  )
  const transactions = db.prepare<[Uint8Array], RawRow>('SELECT * FROM l2_block_txs WHERE block_hash = ? ORDER BY idx')
  const canonical = db
    .prepare<[number], Uint8Array>('SELECT hash FROM l2_blocks WHERE canonical = 1 AND number = ?')
    .pluck()
  const stray = db
    .prepare<[], Uint8Array>(
      'SELECT t.block_hash FROM l2_block_txs t LEFT JOIN l2_blocks b ON b.hash = t.block_hash WHERE b.hash IS NULL LIMIT 1',
    )
    .pluck()
  const events = db.prepare<[number], RawRow>('SELECT events FROM l2_events WHERE number = ?')
  const term = db
    .prepare<[number, number], number>('SELECT 1 FROM l2_event_terms WHERE term = ? AND number = ?')
    .pluck()
  const strayEvents = db
    .prepare<[], number>(
      `SELECT number FROM (SELECT number FROM l2_events UNION SELECT number FROM l2_event_terms)
       WHERE number NOT IN (SELECT number FROM l2_blocks WHERE canonical = 1) LIMIT 1`,
    )
    .pluck()
  const state = db.prepare<[], RawRow>('SELECT * FROM l2_state')
  const updates = db.prepare<[], RawRow>('SELECT * FROM l2_state_updates ORDER BY l1_block, log_index')
  return {
    count: () => count.get()!,
    blocks: () => blocks.iterate(),
    transactions: (blockHash) => transactions.all(blockHash),
    canonicalHash: (number) => canonical.get(number),
    strayTransaction: () => stray.get(),
    events: (number) => events.get(number),
    hasTerm: (value, number) => term.get(value, number) !== undefined,
    strayEvents: () => strayEvents.get(),
    state: () => state.all(),
    stateUpdates: () => updates.all(),
  }
}
