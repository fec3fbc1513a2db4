import { keyOfBytes } from '../../lib/bytes.js'
import type { Database } from '../database.js'
import { type ChangedRange, createChangedKeysReader, decodeAccountKeys, visitSlotKeys } from './changedKeys.js'
import { LATEST, type StateReader } from './stateReader.js'

/** An account that blocks changed, or whose slots they changed. */
interface ChangedAccount {
  address: Uint8Array // 20
  addressId: number
  /** Incarnation after the last of the blocks; undefined when the account does not exist then. */
  incarnation: number | undefined
  /** Changed slots of that incarnation, without leading zeros. */
  slots: Uint8Array[]
}

/** An account in an earlier state. */
export interface RestoredAccount {
  address: Uint8Array // 20
  /** Undefined when it does not exist. */
  account?: { nonce: bigint; balance: bigint; codeHash?: Uint8Array }
  /** True when the storage was of another incarnation after the blocks; `slots` is then the complete storage. */
  cleared: boolean
  /** Slots and values without leading zeros; empty for zero. */
  slots: { slot: Uint8Array; value: Uint8Array }[]
}

/** Finds the changes that undo blocks: the newest ones, which are removed, or others. */
export interface TouchedAbove {
  /** Accounts changed by the blocks (above, upTo]. Call it before their rows are deleted. `check` is called for each
   *  row. */
  take(range: ChangedRange, check?: () => void): ChangedAccount[]
  /** The account in the state after block `at`; default: in the new newest state, after the rows were deleted. `check`
   *  is called for each slot. */
  restored(changed: ChangedAccount, at?: number, check?: () => void): RestoredAccount
  /** Counts the changes of accounts and slots by the blocks above `number`; may stop at `limit` or above. */
  count(number: number, limit: number): number
}

// Page size for reading the complete storage of an account.
const PAGE = 10_000

/** Creates a finder with statements prepared once, on a writing connection. */
export function createTouchedAbove(db: Database, reader: StateReader): TouchedAbove {
  const keys = createChangedKeysReader(db)
  const selectAddress = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  const take: TouchedAbove['take'] = ({ above, upTo }, check = () => {}) => {
    const byId = new Map<number, ChangedAccount>()
    const find = (addressId: number): ChangedAccount => {
      check()
      let found = byId.get(addressId)
      if (found === undefined) {
        const address = selectAddress.get(addressId)!
        const record = reader.account(address, upTo)
        found = { addressId, address, incarnation: record?.account && record.incarnation, slots: [] }
        byId.set(addressId, found)
      }
      return found
    }
    // Several blocks often change the same slot.
    const seen = new Map<number, Set<string>>()
    for (const { accounts, slots } of keys.blocks({ above, upTo })) {
      for (const addressId of decodeAccountKeys(accounts)) find(addressId)
      visitSlotKeys(slots, (addressId, incarnation, slot) => {
        const changed = find(addressId)
        if (changed.incarnation !== incarnation) return
        const own = seen.get(addressId) ?? new Set()
        const name = keyOfBytes(slot)
        if (own.has(name)) return
        seen.set(addressId, own.add(name))
        changed.slots.push(slot.slice()) // a view would keep the keys of its block
      })
    }
    return [...byId.values()]
  }
  const allSlots = (addressId: number, incarnation: number) => {
    const found: Uint8Array[] = []
    for (let after: Uint8Array | undefined; ; after = found.at(-1)) {
      const rows = reader.latestStorage(addressId, incarnation, { after, limit: PAGE })
      for (const { slot } of rows) found.push(slot)
      if (rows.length < PAGE) return found
    }
  }
  const restored: TouchedAbove['restored'] = (changed, at = LATEST, check = () => {}) => {
    const { address, addressId, incarnation, slots } = changed
    const account = reader.account(address, at)?.account
    if (!account) return { address, cleared: true, slots: [] }
    const { nonce, balance, codeId } = account
    const codeHash = codeId === undefined ? undefined : reader.codeHash(codeId)
    const goesOn = account.incarnation === incarnation
    const known = goesOn ? slots : allSlots(addressId, account.incarnation)
    const values = known.map((slot) => {
      check()
      return { slot, value: reader.storage(addressId, account.incarnation, slot, at) }
    })
    return { address, account: { nonce, balance, codeHash }, cleared: !goesOn, slots: values }
  }
  return { take, restored, count: keys.count }
}
