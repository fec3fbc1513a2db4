import { decodeFelt, encodeFelt, type Felt } from '../../chain/starknet/felt.js'
import type { L2Block } from '../../chain/starknet/types.js'
import type { Database } from '../database.js'
import { writeSeal } from '../seals.js'
import { encodeL2Header, L2_BLOCK_COLUMNS, type L2Header } from './l2Rows.js'

// Values that only the older recording has are kept: a fuller recording may contain the parts instead.
const COLUMNS = L2_BLOCK_COLUMNS.split(',').map((name) => name.trim())
const REPLACED = COLUMNS.filter((name) => name !== 'hash' && name !== 'number' && name !== 'canonical')

/** The statements of the layer-2 writer, prepared once. None begins a transaction. */
export class L2Statements {
  readonly #blocks: ReturnType<typeof prepareBlocks>
  readonly #orphans: ReturnType<typeof prepareOrphans>
  readonly #transactions: ReturnType<typeof prepareTransactions>
  readonly #pending: ReturnType<typeof preparePending>
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
    this.#blocks = prepareBlocks(db)
    this.#orphans = prepareOrphans(db)
    this.#transactions = prepareTransactions(db)
    this.#pending = preparePending(db)
  }

  hashAt(number: number): Felt | undefined {
    return optionalFelt(this.#blocks.selectHash.get(number))
  }

  parentAt(number: number): Felt | undefined {
    return optionalFelt(this.#blocks.selectParent.get(number))
  }

  /** Number of a canonical block. */
  numberOf(hash: Felt): number | undefined {
    const row = this.#blocks.selectNumber.get(encodeFelt(hash))
    return row?.canonical === 1 ? row.number : undefined
  }

  isRejected(hash: Felt): boolean {
    return this.#blocks.selectNumber.get(encodeFelt(hash))?.canonical === 0
  }

  head(): { number: number; hash: Felt } | undefined {
    const row = this.#blocks.selectHead.get()
    return row && { number: row.number, hash: decodeFelt(row.hash) }
  }

  insert(
    header: L2Header,
    { status, transactionHashes }: L2Block,
    { canonical, verified, raw }: { canonical: 0 | 1; verified: 0 | 1 | null; raw: Uint8Array | undefined },
  ): void {
    this.#blocks.insert.run(...encodeL2Header(header), canonical, verified, status, unixNow(), raw ?? null)
    this.#insertTransactions(encodeFelt(header.hash), transactionHashes)
  }

  /** The deflated recording of a canonical block, and whether its hash was verified. */
  recordingOf(hash: Felt): { raw: Uint8Array | undefined; isVerified: boolean } | undefined {
    const row = this.#blocks.selectRecording.get(encodeFelt(hash))
    return row && { raw: row.raw ?? undefined, isVerified: row.verified === 1 }
  }

  transactionHashes(hash: Felt): Felt[] {
    return this.#transactions.select.all(encodeFelt(hash)).map(decodeFelt)
  }

  /** Replaces the recording of a stored block. */
  replace(
    header: L2Header,
    { status, transactionHashes }: L2Block,
    { verified, raw }: { verified: 0 | 1 | null; raw: Uint8Array },
  ): void {
    const hash = encodeFelt(header.hash)
    const values = [...encodeL2Header(header), 1, verified]
    const named = Object.fromEntries(COLUMNS.map((name, i) => [name, values[i]]))
    this.#blocks.update.run({ ...named, status, seenAt: unixNow(), raw })
    this.#transactions.delete.run(hash)
    this.#insertTransactions(hash, transactionHashes)
  }

  /** Removes the blocks above `number` from the chain. */
  orphanAbove(number: number): void {
    this.#orphans.orphan.run(unixNow(), number)
  }

  /** True for a block that a reorg removed. */
  isOrphaned(hash: Felt): boolean {
    return this.#orphans.isOrphaned.get(encodeFelt(hash)) !== undefined
  }

  /** Makes an orphaned block canonical again. */
  restore(hash: Felt): void {
    this.#orphans.restore.run(encodeFelt(hash))
  }

  /** The highest block accepted on layer 1. */
  l1Head(): number | undefined {
    return this.#orphans.selectL1Head.get() ?? undefined
  }

  deletePending(): void {
    if (this.#pending.delete.run().changes > 0) writeSeal(this.#db, 'l2_pending')
  }

  putPending({ number, parentHash }: { number?: number; parentHash?: Felt }, json: string, raw?: Uint8Array): void {
    const parent = parentHash === undefined ? null : encodeFelt(parentHash)
    this.#pending.upsert.run(number ?? null, parent, json, raw ?? null, unixNow())
    writeSeal(this.#db, 'l2_pending')
  }

  /** Deletes the pending block when the stored block replaces it; sets its number when the stored block is its
   *  parent. */
  settlePending({ number, hash, parentHash }: { number: number; hash: Felt; parentHash: Felt }): void {
    const dropped = this.#pending.drop.run(number, encodeFelt(parentHash)).changes
    const numbered = this.#pending.number.run(number + 1, encodeFelt(hash)).changes
    if (dropped + numbered > 0) writeSeal(this.#db, 'l2_pending')
  }

  #insertTransactions(hash: Uint8Array, transactionHashes: readonly Felt[]): void {
    for (const [i, transactionHash] of transactionHashes.entries()) {
      this.#transactions.insert.run(hash, i, encodeFelt(transactionHash))
    }
  }
}

function prepareBlocks(db: Database) {
  return {
    selectHash: db
      .prepare<[number], Uint8Array>('SELECT hash FROM l2_blocks WHERE canonical = 1 AND number = ?')
      .pluck(),
    selectParent: db
      .prepare<[number], Uint8Array>('SELECT parent_hash FROM l2_blocks WHERE canonical = 1 AND number = ?')
      .pluck(),
    selectNumber: db.prepare<[Uint8Array], { number: number; canonical: number }>(
      'SELECT number, canonical FROM l2_blocks WHERE hash = ?',
    ),
    selectHead: db.prepare<[], { number: number; hash: Uint8Array }>(
      'SELECT number, hash FROM l2_blocks WHERE canonical = 1 ORDER BY number DESC LIMIT 1',
    ),
    insert: db.prepare(
      `INSERT INTO l2_blocks (${L2_BLOCK_COLUMNS}, upstream_status, seen_at, raw)
       VALUES (${Array(26).fill('?').join(', ')})`,
    ),
    selectRecording: db.prepare<[Uint8Array], { raw: Uint8Array | null; verified: number | null }>(
      'SELECT raw, verified FROM l2_blocks WHERE hash = ? AND canonical = 1',
    ),
    update: db.prepare(
      `UPDATE l2_blocks SET ${REPLACED.map((name) => `${name} = coalesce(@${name}, ${name})`).join(', ')},
         upstream_status = @status, seen_at = @seenAt, raw = @raw WHERE hash = @hash`,
    ),
  }
}

function prepareTransactions(db: Database) {
  return {
    delete: db.prepare('DELETE FROM l2_block_txs WHERE block_hash = ?'),
    select: db
      .prepare<[Uint8Array], Uint8Array>('SELECT tx_hash FROM l2_block_txs WHERE block_hash = ? ORDER BY idx')
      .pluck(),
    insert: db.prepare('INSERT INTO l2_block_txs (block_hash, idx, tx_hash) VALUES (?, ?, ?)'),
  }
}

function prepareOrphans(db: Database) {
  return {
    orphan: db.prepare('UPDATE l2_blocks SET canonical = 0, orphaned_at = ? WHERE canonical = 1 AND number > ?'),
    isOrphaned: db
      .prepare<[Uint8Array], number>('SELECT 1 FROM l2_blocks WHERE hash = ? AND orphaned_at IS NOT NULL')
      .pluck(),
    restore: db.prepare('UPDATE l2_blocks SET canonical = 1, orphaned_at = NULL WHERE hash = ?'),
    selectL1Head: db.prepare<[], number | null>('SELECT l1_head_number FROM l2_state WHERE id = 1').pluck(),
  }
}

function preparePending(db: Database) {
  return {
    delete: db.prepare('DELETE FROM l2_pending'),
    upsert: db.prepare(
      `INSERT OR REPLACE INTO l2_pending (slot, number, parent_hash, json, raw, fetched_at)
       VALUES ('pending', ?, ?, ?, ?, ?)`,
    ),
    // A pending block without number and parent was on top of the previous head.
    drop: db.prepare(
      `DELETE FROM l2_pending WHERE number <= ? OR parent_hash = ? OR (number IS NULL AND parent_hash IS NULL)`,
    ),
    number: db.prepare('UPDATE l2_pending SET number = ? WHERE number IS NULL AND parent_hash = ?'),
  }
}

function optionalFelt(bytes: Uint8Array | undefined): Felt | undefined {
  return bytes && decodeFelt(bytes)
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
