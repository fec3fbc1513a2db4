import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_BYTES, padLeft } from '../../lib/bytes.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { createMetaTable, META_STATE_DUMP } from '../meta.js'
import { baseIncarnation } from './sparseState.js'

/* A state dump: the whole state after one block, by the hashes of its keys, in `hashed_accounts` and `hashed_storage`.
 * The block is the first of the database, and the first of the first interval of sparse state. In that interval a key
 * without a row at or before a block has the value of the dump; what the dump does not have is empty. The rows of later
 * blocks are the same as with a complete state.
 *
 * An account that has no id in `addresses` yet is read under the negative of its id in the dump. A block that changes
 * it gives it an id; states of earlier blocks that are in memory may still use the negative one. */

/** A verified state dump. */
export interface StateDump {
  /** Its block. */
  readonly number: number
  /** In hex. */
  readonly hash: string
  readonly accounts: number
  readonly slots: number
  /** The last block of its interval of states; absent while that grows. */
  readonly last?: number
}

/** The state dump of a database, if it has a verified one. */
export function readStateDump(db: Database): StateDump | undefined {
  return createMetaTable(db).get<StateDump | null>(META_STATE_DUMP) ?? undefined
}

/** An account in the dump, or that it does not exist. */
export interface DumpedAccount {
  /** Its id in the dump; 0: it does not exist. */
  readonly id: number
  /** That of its base row would be the same. */
  readonly incarnation: number
  /** Undefined when it does not exist. */
  readonly account?: { readonly nonce: bigint; readonly balance: bigint; readonly codeId?: number }
}

/** Reads of keys without rows. */
export interface StateDumpReader {
  /** The account (20 bytes) at a block; undefined where the dump does not answer for that block. */
  account(address: Uint8Array, blockNumber: number): DumpedAccount | undefined
  /** The slot's value without leading zeros, empty for zero; undefined where the dump does not answer for that block,
   *  or for that incarnation. `addressId` is positive, or the negative of an id in the dump. */
  storage(
    key: { readonly addressId: number; readonly incarnation: number; readonly slot: Uint8Array },
    blockNumber: number,
  ): Uint8Array | undefined
}

interface AccountRow {
  id: number
  nonce: StoredUint
  balance: StoredUint
  code_id: number | null
  has_storage: number
}

/** Creates a reader over an open database, with statements prepared once. */
export function createStateDumpReader(db: Database): StateDumpReader {
  const meta = createMetaTable(db)
  const selectAccount = db.prepare<[Uint8Array], AccountRow>(
    'SELECT id, nonce, balance, code_id, has_storage FROM hashed_accounts WHERE hash = ?',
  )
  const selectId = db.prepare<[Uint8Array], number>('SELECT id FROM hashed_accounts WHERE hash = ?').pluck()
  const selectSlot = db
    .prepare<[number, Uint8Array], Uint8Array>(
      'SELECT value FROM hashed_storage WHERE account_id = ? AND slot_hash = ?',
    )
    .pluck()
  const selectAddress = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  /** Read each time: the follower's own connection changes it, too. */
  const answers = (blockNumber: number) => {
    const dump = meta.get<StateDump | null>(META_STATE_DUMP)
    return dump != null && dump.number <= blockNumber && blockNumber <= (dump.last ?? Infinity)
  }
  return {
    account: (address, blockNumber) => {
      if (!answers(blockNumber)) return undefined
      const row = selectAccount.get(keccak256(address))
      if (row === undefined) return { id: 0, incarnation: baseIncarnation(0, false) }
      const { id, code_id: codeId } = row
      const account = { nonce: decodeUint(row.nonce), balance: decodeUint(row.balance), codeId: codeId ?? undefined }
      return { id, incarnation: baseIncarnation(0, row.has_storage === 1), account }
    },
    storage: ({ addressId, incarnation, slot }, blockNumber) => {
      if (incarnation !== baseIncarnation(0, true) || !answers(blockNumber)) return undefined
      const id = addressId < 0 ? -addressId : selectId.get(keccak256(selectAddress.get(addressId)!))
      if (id === undefined) return EMPTY_BYTES
      return selectSlot.get(id, keccak256(padLeft(slot, 32))) ?? EMPTY_BYTES
    },
  }
}
