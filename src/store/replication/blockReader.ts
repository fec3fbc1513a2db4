import type { Block, ConsensusReceipt } from '../../chain/eth/types.js'
import { EMPTY_BYTES, padLeft } from '../../lib/bytes.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { createMetaTable, META_STATE_MODE } from '../meta.js'
import { decodeAppearances } from '../rows/appearances.js'
import { createChainReader } from '../rows/chainReader.js'
import { hasStateBefore } from '../rows/coverage.js'
import type { AccountChange, StateChanges, StorageChange } from '../rows/stateChanges.js'
import type { ChainReader } from '../rows/types.js'
import { createChangedKeysReader, createChangedSlotsReader, decodeAccountKeys } from '../state/changedKeys.js'
import { accountsInBlock, newestRow } from '../state/historySql.js'

/** A stored block with all its parts. */
interface StoredBlockParts {
  block: Block
  receipts: ConsensusReceipt[]
  totalDifficulty: bigint
  /** Undefined when the chain keeps no state. */
  changes?: StateChanges
  /** By transaction: the addresses (20 bytes) in which it appears. Undefined for a block that is not in the address
   *  index. */
  appearances?: Uint8Array[][]
  /** RLP (EIP-7928); undefined if it is not stored. */
  blockAccessList?: Uint8Array
}

/** Reads stored blocks back in the form in which they were inserted. */
interface StoredBlocks {
  /** Reads one block by several statements: call it within a transaction. Undefined when the block is not stored. */
  read(number: number): StoredBlockParts | undefined
}

interface AccountRow {
  address: Uint8Array
  nonce: StoredUint
  balance: StoredUint | null
  incarnation: number
  code_id: number | null
  code_hash: Uint8Array | null
  previous_code_id: number | null
}

/** Creates a reader over an open database, with statements prepared once. */
export function createStoredBlocks(db: Database, reader: ChainReader = createChainReader(db)): StoredBlocks {
  const meta = createMetaTable(db)
  const readChanges = createChangesReader(db)
  const selectAppearances = db
    .prepare<[number], Uint8Array>('SELECT data FROM address_appearances WHERE block_number = ?')
    .pluck()
  const addressOf = createAddressReader(db)
  let mode: string | undefined
  const isExecuted = () => {
    mode ??= meta.get<string>(META_STATE_MODE)
    return mode === 'execute'
  }
  return {
    read(number) {
      const stored = reader.blockByNumber(number)
      if (stored === undefined) return undefined
      const keepsState = isExecuted() || hasStateBefore(reader.coverage(), number)
      const { hash, header, withdrawals, sizeBytes, totalDifficulty } = stored
      const appearances = selectAppearances.get(number)
      const nameOf = addressOf()
      return {
        block: {
          ...{ hash, header, withdrawals, sizeBytes },
          transactions: reader.transactions(stored),
          uncles: reader.uncles(number),
        },
        receipts: reader.receipts(stored).map(({ receipt }) => receipt),
        totalDifficulty,
        changes: keepsState ? readChanges(number, nameOf) : undefined,
        appearances: appearances && decodeAppearances(appearances).map((ids) => ids.map(nameOf)),
        blockAccessList: reader.blockAccessList(number),
      }
    },
  }
}

/** Returns a function that creates an address look-up with an empty cache: addresses recur within a block. */
function createAddressReader(db: Database): () => (id: number) => Uint8Array {
  const select = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  return () => {
    const known = new Map<number, Uint8Array>()
    return (id) => {
      const found = known.get(id) ?? select.get(id)!
      known.set(id, found)
      return found
    }
  }
}

/** Reads the state changes of a block. Code counts as new when the account's previous row has other code. */
function createChangesReader(db: Database) {
  const previous = newestRow('account', 'code_id', 'address_id = h.address_id AND block_number < h.block_number')
  const keys = createChangedKeysReader(db)
  const slots = createChangedSlotsReader(db)
  const accounts = accountsInBlock(
    (from) => `SELECT a.address, h.nonce, h.balance, h.incarnation, h.code_id, c.hash AS code_hash,
       CASE WHEN h.code_id IS NOT NULL THEN (${previous}) END AS previous_code_id
     FROM ${from} JOIN addresses a ON a.id = h.address_id LEFT JOIN code c ON c.id = h.code_id`,
  )
  const selectAccounts = db.prepare<[{ number: number; ids: string }], AccountRow>(accounts)
  const selectCode = db.prepare<[number], Uint8Array>('SELECT bytes FROM code WHERE id = ?').pluck()
  return (number: number, addressOf: (id: number) => Uint8Array): StateChanges => {
    const ids = decodeAccountKeys(keys.block(number)?.accounts ?? EMPTY_BYTES)
    const rows = selectAccounts.all({ number, ids: JSON.stringify(ids) })
    if (rows.length !== ids.length)
      throw new Error(`block ${number} has ${rows.length} of ${ids.length} changed accounts`)
    const codes = new Map<number, { hash: Uint8Array; bytes: Uint8Array }>()
    for (const { code_id: id, code_hash: hash, previous_code_id: before } of rows) {
      if (id !== null && id !== before && !codes.has(id)) codes.set(id, { hash: hash!, bytes: selectCode.get(id)! })
    }
    const storage: StorageChange[] = []
    slots.visit(number, ({ addressId, incarnation, slot }, value) => {
      if (value === undefined) throw new Error(`block ${number} lacks a changed slot of address ${addressId}`)
      storage.push({ address: addressOf(addressId), incarnation, slot: padLeft(slot, 32), value })
    })
    return { accounts: rows.map(accountOf), storage, codes: [...codes.values()] }
  }
}

function accountOf({ address, incarnation, nonce, balance, code_hash: codeHash }: AccountRow): AccountChange {
  if (balance === null) return { address, incarnation }
  const account = { nonce: decodeUint(nonce), balance: decodeUint(balance), codeHash: codeHash ?? undefined }
  return { address, incarnation, account }
}
