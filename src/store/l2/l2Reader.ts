import { decodeFelt, encodeFelt, type Felt } from '../../chain/starknet/felt.js'
import { encodeChainId } from '../../chain/starknet/networks.js'
import type { L2Status } from '../../chain/starknet/types.js'
import type { Database } from '../database.js'
import { createMetaTable, META_L2_CHAIN_ID } from '../meta.js'
import { createL2EventReader, type L2EventReader } from './l2EventReader.js'
import {
  decodeL2BlockRow,
  decodePendingBody,
  L2_BLOCK_COLUMNS,
  type L2BlockRow,
  type L2Header,
  type L2PendingBody,
} from './l2Rows.js'

/** A stored layer-2 block. */
export interface StoredL2Block extends L2Header {
  /** Derived: canonical blocks up to the layer-1 head are ACCEPTED_ON_L1, other canonical blocks ACCEPTED_ON_L2, all
   *  others REJECTED. */
  status: Exclude<L2Status, 'PENDING'>
}

/** The pending block; number and parent are set as far as known. */
export interface StoredL2Pending extends L2PendingBody {
  number?: number
  parentHash?: Felt
}

/** Reads of layer-2 blocks. Each call sees the newest commit. Block numbers may have gaps. */
export interface L2Reader {
  /** The chain id as a felt; undefined until a network is named or a verified hash reveals it. */
  chainId(): Felt | undefined
  /** Number and hash of the lowest canonical block. */
  first(): { number: number; hash: Felt } | undefined
  /** Number and hash of the highest canonical block up to `number`. */
  atOrBelow(number: number): { number: number; hash: Felt } | undefined
  /** Number and hash of the highest canonical block. */
  head(): { number: number; hash: Felt } | undefined
  /** The canonical block with that number. */
  blockByNumber(number: number): StoredL2Block | undefined
  /** The block with that hash, canonical or rejected. */
  blockByHash(hash: Felt): StoredL2Block | undefined
  /** The highest canonical block accepted on layer 1. */
  blockAcceptedOnL1(): StoredL2Block | undefined
  /** The pending block on top of the head, if one is stored. */
  pending(): StoredL2Pending | undefined
  /** Hashes of the block's transactions in order. */
  transactionHashes(block: Pick<StoredL2Block, 'hash'>): Felt[]
  /** The canonical block that has the transaction, and its index there. */
  findTransaction(hash: Felt): { block: StoredL2Block; index: number } | undefined
  /** Searches the events of canonical blocks. */
  readonly events: L2EventReader
  /** The deflated recording of a block; undefined when none was stored. */
  recording(hash: Felt): Uint8Array | undefined
  /** The deflated recording of the pending block. */
  pendingRecording(): Uint8Array | undefined
}

interface PendingRow {
  number: number | null
  parent_hash: Uint8Array | null
  json: string
}

/** Creates a reader over an open database, with statements prepared once. */
export function createL2Reader(db: Database): L2Reader {
  const meta = createMetaTable(db)
  const selectHead = db.prepare<[], { number: number; hash: Uint8Array }>(
    'SELECT number, hash FROM l2_blocks WHERE canonical = 1 ORDER BY number DESC LIMIT 1',
  )
  const selectFirst = db.prepare<[], { number: number; hash: Uint8Array }>(
    'SELECT number, hash FROM l2_blocks WHERE canonical = 1 ORDER BY number LIMIT 1',
  )
  const selectAtOrBelow = db.prepare<[number], { number: number; hash: Uint8Array }>(
    'SELECT number, hash FROM l2_blocks WHERE canonical = 1 AND number <= ? ORDER BY number DESC LIMIT 1',
  )
  const selectByNumber = db.prepare<[number], L2BlockRow>(
    `SELECT ${L2_BLOCK_COLUMNS} FROM l2_blocks WHERE canonical = 1 AND number = ?`,
  )
  const selectByHash = db.prepare<[Uint8Array], L2BlockRow>(`SELECT ${L2_BLOCK_COLUMNS} FROM l2_blocks WHERE hash = ?`)
  const selectUpTo = db.prepare<[number], L2BlockRow>(
    `SELECT ${L2_BLOCK_COLUMNS} FROM l2_blocks WHERE canonical = 1 AND number <= ? ORDER BY number DESC LIMIT 1`,
  )
  const selectL1Head = db.prepare<[], number | null>('SELECT l1_head_number FROM l2_state WHERE id = 1').pluck()
  const selectPending = db.prepare<[], PendingRow>(
    "SELECT number, parent_hash, json FROM l2_pending WHERE slot = 'pending'",
  )
  const selectHashes = db
    .prepare<[Uint8Array], Uint8Array>('SELECT tx_hash FROM l2_block_txs WHERE block_hash = ? ORDER BY idx')
    .pluck()

  const selectTransaction = db.prepare<[Uint8Array], { hash: Uint8Array; idx: number }>(
    `SELECT t.block_hash AS hash, t.idx FROM l2_block_txs t JOIN l2_blocks b ON b.hash = t.block_hash
     WHERE t.tx_hash = ? AND b.canonical = 1`,
  )
  const selectRaw = db.prepare<[Uint8Array], Uint8Array | null>('SELECT raw FROM l2_blocks WHERE hash = ?').pluck()
  const selectPendingRaw = db
    .prepare<[], Uint8Array | null>("SELECT raw FROM l2_pending WHERE slot = 'pending'")
    .pluck()

  const toRef = (row: { number: number; hash: Uint8Array } | undefined) =>
    row && { number: row.number, hash: decodeFelt(row.hash) }
  const l1Head = () => selectL1Head.get() ?? undefined
  const toBlock = (row: L2BlockRow | undefined): StoredL2Block | undefined => {
    if (row === undefined) return undefined
    const accepted = row.number <= (l1Head() ?? -1) ? 'ACCEPTED_ON_L1' : 'ACCEPTED_ON_L2'
    return { ...decodeL2BlockRow(row), status: row.canonical === 1 ? accepted : 'REJECTED' }
  }
  return {
    chainId: () => {
      const text = meta.get<string>(META_L2_CHAIN_ID)
      return text === undefined ? undefined : encodeChainId(text)
    },
    first: () => toRef(selectFirst.get()),
    atOrBelow: (number) => toRef(selectAtOrBelow.get(number)),
    head: () => toRef(selectHead.get()),
    blockByNumber: (number) => toBlock(selectByNumber.get(number)),
    blockByHash: (hash) => toBlock(selectByHash.get(encodeFelt(hash))),
    blockAcceptedOnL1: () => {
      const number = l1Head()
      return number === undefined ? undefined : toBlock(selectUpTo.get(number))
    },
    pending: () => {
      const row = selectPending.get()
      if (row === undefined) return undefined
      const parentHash = row.parent_hash ?? (row.number === null ? undefined : selectByNumber.get(row.number - 1)?.hash)
      return {
        ...decodePendingBody(row.json),
        number: row.number ?? undefined,
        parentHash: parentHash && decodeFelt(parentHash),
      }
    },
    transactionHashes: (block) => selectHashes.all(encodeFelt(block.hash)).map(decodeFelt),
    findTransaction: (hash) => {
      const row = selectTransaction.get(encodeFelt(hash))
      return row && { block: toBlock(selectByHash.get(row.hash))!, index: row.idx }
    },
    events: createL2EventReader(db),
    recording: (hash) => selectRaw.get(encodeFelt(hash)) ?? undefined,
    pendingRecording: () => selectPendingRaw.get() ?? undefined,
  }
}
