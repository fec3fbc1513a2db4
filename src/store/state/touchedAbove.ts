import type { Database } from '../database.js'
import { LATEST, type StateReader } from './stateReader.js'

/** An account that removed blocks changed, or whose slots they changed. */
export interface ChangedAccount {
  address: Uint8Array // 20
  addressId: number
  /** In the newest row; undefined when the account does not exist at the head. */
  incarnation: number | undefined
  /** Changed slots of that incarnation, without leading zeros. */
  slots: Uint8Array[]
}

/** An account after the removal. */
export interface RestoredAccount {
  address: Uint8Array // 20
  /** Undefined when it does not exist. */
  account?: { nonce: bigint; balance: bigint; codeHash?: Uint8Array }
  /** True when the storage at the head was of another incarnation; `slots` is then the complete storage. */
  cleared: boolean
  /** Slots and values without leading zeros; empty for zero. */
  slots: { slot: Uint8Array; value: Uint8Array }[]
}

/** Finds the changes of the newest state when blocks are removed. */
export interface TouchedAbove {
  /** Accounts changed by blocks above `number`. Call it before their rows are deleted. */
  take(number: number): ChangedAccount[]
  /** The same accounts in the new newest state. Call it after the rows were deleted. */
  restored(changed: readonly ChangedAccount[]): RestoredAccount[]
}

// Page size for reading the complete storage of an account.
const PAGE = 10_000

/** Statements are prepared once, on a writing connection. */
export function createTouchedAbove(db: Database, reader: StateReader): TouchedAbove {
  const selectAccounts = db.prepare<[number, number], { addressId: number; address: Uint8Array }>(
    `SELECT id AS addressId, address FROM addresses WHERE id IN (
       SELECT address_id FROM account_history WHERE block_number > ?
       UNION SELECT address_id FROM storage_history WHERE block_number > ?)`,
  )
  const selectSlots = db.prepare<[number], { addressId: number; incarnation: number; slot: Uint8Array }>(
    `SELECT DISTINCT address_id AS addressId, incarnation, slot FROM storage_history
     INDEXED BY storage_history_by_block WHERE block_number > ?`,
  )
  const take = (number: number): ChangedAccount[] => {
    const byId = new Map<number, ChangedAccount>()
    for (const { addressId, address } of selectAccounts.all(number, number)) {
      const record = reader.account(address, LATEST)
      const incarnation = record?.account && record.incarnation
      byId.set(addressId, { addressId, address, incarnation, slots: [] })
    }
    for (const { addressId, incarnation, slot } of selectSlots.iterate(number)) {
      const changed = byId.get(addressId)!
      if (changed.incarnation === incarnation) changed.slots.push(slot)
    }
    return [...byId.values()]
  }
  const allSlots = (addressId: number, incarnation: number) => {
    const found: { slot: Uint8Array; value: Uint8Array }[] = []
    for (let after: Uint8Array | undefined; ; after = found.at(-1)!.slot) {
      const rows = reader.latestStorage(addressId, incarnation, { after, limit: PAGE })
      found.push(...rows)
      if (rows.length < PAGE) return found
    }
  }
  const restore = ({ address, addressId, incarnation, slots }: ChangedAccount): RestoredAccount => {
    const account = reader.account(address, LATEST)?.account
    if (!account) return { address, cleared: true, slots: [] }
    const { nonce, balance, codeId } = account
    const codeHash = codeId === undefined ? undefined : reader.codeHash(codeId)
    const goesOn = account.incarnation === incarnation
    const values = goesOn
      ? slots.map((slot) => ({ slot, value: reader.storage(addressId, account.incarnation, slot, LATEST) }))
      : allSlots(addressId, account.incarnation)
    return { address, account: { nonce, balance, codeHash }, cleared: !goesOn, slots: values }
  }
  return { take, restored: (changed) => changed.map(restore) }
}
