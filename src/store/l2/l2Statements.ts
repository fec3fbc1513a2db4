import { decodeFelt, encodeFelt, type Felt } from '../../chain/starknet/felt.js'
import type { L2Block } from '../../chain/starknet/types.js'
import type { Database } from '../database.js'
import { writeSeal } from '../seals.js'
import { encodeL2Header, L2_BLOCK_COLUMNS, type L2Header } from './l2Rows.js'

/** The statements of the layer-2 writer. */
export type L2Statements = ReturnType<typeof createL2Statements>

/** Prepares all statements once. None begins a transaction. */
export function createL2Statements(db: Database) {
  const selectHash = db
    .prepare<[number], Uint8Array>('SELECT hash FROM l2_blocks WHERE canonical = 1 AND number = ?')
    .pluck()
  const selectParent = db
    .prepare<[number], Uint8Array>('SELECT parent_hash FROM l2_blocks WHERE canonical = 1 AND number = ?')
    .pluck()
  const selectNumber = db.prepare<[Uint8Array], { number: number; canonical: number }>(
    'SELECT number, canonical FROM l2_blocks WHERE hash = ?',
  )
  const selectHead = db.prepare<[], { number: number; hash: Uint8Array }>(
    'SELECT number, hash FROM l2_blocks WHERE canonical = 1 ORDER BY number DESC LIMIT 1',
  )
  const insertBlock = db.prepare(
    `INSERT INTO l2_blocks (${L2_BLOCK_COLUMNS}, upstream_status, seen_at, raw)
     VALUES (${Array(26).fill('?').join(', ')})`,
  )
  const selectRecording = db.prepare<[Uint8Array], { raw: Uint8Array | null; verified: number | null }>(
    'SELECT raw, verified FROM l2_blocks WHERE hash = ? AND canonical = 1',
  )
  // Values that only the older recording has are kept: a fuller recording may contain the parts instead.
  const columns = L2_BLOCK_COLUMNS.split(',').map((name) => name.trim())
  const replaced = columns.filter((name) => name !== 'hash' && name !== 'number' && name !== 'canonical')
  const updateBlock = db.prepare(
    `UPDATE l2_blocks SET ${replaced.map((name) => `${name} = coalesce(@${name}, ${name})`).join(', ')},
       upstream_status = @status, seen_at = @seenAt, raw = @raw WHERE hash = @hash`,
  )
  const deleteTransactions = db.prepare('DELETE FROM l2_block_txs WHERE block_hash = ?')
  const selectTransactions = db
    .prepare<[Uint8Array], Uint8Array>('SELECT tx_hash FROM l2_block_txs WHERE block_hash = ? ORDER BY idx')
    .pluck()
  const insertTransaction = db.prepare('INSERT INTO l2_block_txs (block_hash, idx, tx_hash) VALUES (?, ?, ?)')
  const orphan = db.prepare('UPDATE l2_blocks SET canonical = 0, orphaned_at = ? WHERE canonical = 1 AND number > ?')
  const isOrphaned = db
    .prepare<[Uint8Array], number>('SELECT 1 FROM l2_blocks WHERE hash = ? AND orphaned_at IS NOT NULL')
    .pluck()
  const restore = db.prepare('UPDATE l2_blocks SET canonical = 1, orphaned_at = NULL WHERE hash = ?')
  const selectL1Head = db.prepare<[], number | null>('SELECT l1_head_number FROM l2_state WHERE id = 1').pluck()
  const deletePending = db.prepare('DELETE FROM l2_pending')
  const upsertPending = db.prepare(
    `INSERT OR REPLACE INTO l2_pending (slot, number, parent_hash, json, raw, fetched_at)
     VALUES ('pending', ?, ?, ?, ?, ?)`,
  )
  // A pending block without number and parent was on top of the previous head.
  const dropPending = db.prepare(
    `DELETE FROM l2_pending WHERE number <= ? OR parent_hash = ? OR (number IS NULL AND parent_hash IS NULL)`,
  )
  const numberPending = db.prepare('UPDATE l2_pending SET number = ? WHERE number IS NULL AND parent_hash = ?')

  const insertTransactions = (hash: Uint8Array, transactionHashes: readonly Felt[]) => {
    for (const [i, transactionHash] of transactionHashes.entries()) {
      insertTransaction.run(hash, i, encodeFelt(transactionHash))
    }
  }
  const felt = (bytes: Uint8Array | undefined) => bytes && decodeFelt(bytes)
  return {
    hashAt: (number: number) => felt(selectHash.get(number)),
    parentAt: (number: number) => felt(selectParent.get(number)),
    /** Number of a canonical block. */
    numberOf: (hash: Felt) => {
      const row = selectNumber.get(encodeFelt(hash))
      return row?.canonical === 1 ? row.number : undefined
    },
    isRejected: (hash: Felt) => selectNumber.get(encodeFelt(hash))?.canonical === 0,
    head: () => {
      const row = selectHead.get()
      return row && { number: row.number, hash: decodeFelt(row.hash) }
    },
    insert: (
      header: L2Header,
      { status, transactionHashes }: L2Block,
      { canonical, verified, raw }: { canonical: 0 | 1; verified: 0 | 1 | null; raw: Uint8Array | undefined },
    ) => {
      insertBlock.run(...encodeL2Header(header), canonical, verified, status, unixNow(), raw ?? null)
      insertTransactions(encodeFelt(header.hash), transactionHashes)
    },
    /** The deflated recording of a canonical block, and whether its hash was verified. */
    recordingOf: (hash: Felt) => {
      const row = selectRecording.get(encodeFelt(hash))
      return row && { raw: row.raw ?? undefined, isVerified: row.verified === 1 }
    },
    transactionHashes: (hash: Felt) => selectTransactions.all(encodeFelt(hash)).map(decodeFelt),
    /** Replaces the recording of a stored block. */
    replace: (
      header: L2Header,
      { status, transactionHashes }: L2Block,
      { verified, raw }: { verified: 0 | 1 | null; raw: Uint8Array },
    ) => {
      const hash = encodeFelt(header.hash)
      const values = [...encodeL2Header(header), 1, verified]
      const named = Object.fromEntries(columns.map((name, i) => [name, values[i]]))
      updateBlock.run({ ...named, status, seenAt: unixNow(), raw })
      deleteTransactions.run(hash)
      insertTransactions(hash, transactionHashes)
    },
    /** Removes the blocks above `number` from the chain. */
    orphanAbove: (number: number) => void orphan.run(unixNow(), number),
    /** True for a block that a reorg removed. */
    isOrphaned: (hash: Felt) => isOrphaned.get(encodeFelt(hash)) !== undefined,
    /** Makes an orphaned block canonical again. */
    restore: (hash: Felt) => void restore.run(encodeFelt(hash)),
    /** The highest block accepted on layer 1. */
    l1Head: () => selectL1Head.get() ?? undefined,
    deletePending: () => {
      if (deletePending.run().changes > 0) writeSeal(db, 'l2_pending')
    },
    putPending: ({ number, parentHash }: { number?: number; parentHash?: Felt }, json: string, raw?: Uint8Array) => {
      const parent = parentHash === undefined ? null : encodeFelt(parentHash)
      upsertPending.run(number ?? null, parent, json, raw ?? null, unixNow())
      writeSeal(db, 'l2_pending')
    },
    /** Deletes the pending block when the stored block replaces it; sets its number when the stored block is its
     *  parent. */
    settlePending: ({ number, hash, parentHash }: { number: number; hash: Felt; parentHash: Felt }) => {
      const dropped = dropPending.run(number, encodeFelt(parentHash)).changes
      const numbered = numberPending.run(number + 1, encodeFelt(hash)).changes
      if (dropped + numbered > 0) writeSeal(db, 'l2_pending')
    },
  }
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
