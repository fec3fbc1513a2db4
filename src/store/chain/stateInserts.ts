import { trimLeft } from '../../lib/bytes.js'
import { encodeUint } from '../columns.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { type AccountRow, createAccountRows, createSlotRows, MAX_COLLECTED, type SlotRow } from './collectedRows.js'
import type { StateChanges } from './stateChanges.js'

/** Inserts of the rows of accounts and slots. */
export interface StateInserts {
  /** Adds the changes of a block. Their rows are written at the latest by `flush`. */
  insert(blockNumber: number, changes: StateChanges): void
  /** Writes all rows. */
  flush(): void
  /** Discards unwritten rows and cached ids. Call it after a rollback. */
  forget(): void
}

/** The inserts over a database opened for writing. `collects`: rows of several blocks are written together in the order of their keys:
 *  those that share a page come one after another, which takes half the time where blocks change places all over the state. */
export function createStateInserts(
  db: Database,
  { collects = false, mostCollected = MAX_COLLECTED }: { collects?: boolean; mostCollected?: number } = {},
): StateInserts {
  const insertAccount = db.prepare(
    `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertStorage = db.prepare(
    'INSERT INTO storage_history (address_id, incarnation, slot, block_number, value) VALUES (?, ?, ?, ?, ?)',
  )
  const selectCode = db.prepare<[Uint8Array], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const insertCode = db.prepare('INSERT INTO code (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')
  const addresses = dictionaryOf(db, 'addresses')
  const writeAccount = (row: AccountRow) => void insertAccount.run(...row)
  const writeSlot = ({ addressId, incarnation, slot, blockNumber, value }: SlotRow) =>
    void insertStorage.run(addressId, incarnation, slot, blockNumber, value)
  const accounts = collects ? createAccountRows(mostCollected) : undefined
  const slots = collects ? createSlotRows(mostCollected) : undefined
  const addAccount = accounts?.add ?? writeAccount
  const addSlot = slots?.add ?? writeSlot
  const flush = () => {
    accounts?.take(writeAccount)
    slots?.take(writeSlot)
  }
  return {
    insert: (blockNumber, changes) => {
      for (const { hash, bytes } of changes.codes) insertCode.run(hash, bytes)
      for (const { address, incarnation, account } of changes.accounts) {
        if (accounts?.length === mostCollected) flush()
        const codeId = account?.codeHash === undefined ? null : selectCode.get(account.codeHash)!
        const balance = account ? encodeUint(account.balance) : null
        addAccount([
          addresses.idOf(address),
          blockNumber,
          encodeUint(account?.nonce ?? 0n),
          balance,
          codeId,
          incarnation,
        ])
      }
      let last: { address: Uint8Array; addressId: number } | undefined
      for (const { address, incarnation, slot, value } of changes.storage) {
        if (slots?.length === mostCollected) flush()
        if (address !== last?.address) last = { address, addressId: addresses.idOf(address) }
        const { addressId } = last
        addSlot({ addressId, incarnation, slot: trimLeft(slot), blockNumber, value: trimLeft(value) })
      }
    },
    flush,
    forget: () => {
      accounts?.clear()
      slots?.clear()
      addresses.forget()
    },
  }
}
