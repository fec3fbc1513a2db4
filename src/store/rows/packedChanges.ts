import { leadingZeros } from '../../lib/bytes.js'
import type { AccountChange, StateChanges } from './stateChanges.js'

/* State changes of a block, with its slots in one buffer and its addresses numbered. An object and two views for each
 * slot would cost as much as inserting its row; the ids of numbered addresses are looked up once a block, one after
 * another. */

/** The changes of a block. */
export interface PackedChanges extends Pick<StateChanges, 'codes' | 'base'> {
  /** 20 bytes each. An address may have two numbers when the changes were packed. */
  readonly addresses: readonly Uint8Array[]
  readonly accounts: readonly PackedAccount[]
  readonly storage: PackedStorage
}

/** An account after a block; as `AccountChange`. */
export interface PackedAccount extends Omit<AccountChange, 'address'> {
  /** Index of its address. */
  readonly address: number
}

/** Changed slots. */
export interface PackedStorage {
  /** For each slot, one after another: its length (1 byte), its bytes, the length of the value, the value; both without
   *  leading zeros. There may be other bytes between groups. */
  readonly bytes: Uint8Array
  readonly groups: readonly StorageGroup[]
  /** Slots of all groups. */
  readonly length: number
}

/** Slots of one incarnation of an account. */
export interface StorageGroup {
  /** Index of the account's address. */
  readonly address: number
  readonly incarnation: number
  /** Offset of its first slot in the bytes. */
  readonly start: number
  readonly count: number
}

/** Calls `visit` for each slot of a group, in order, with the ranges of its bytes and of its value. */
export function visitSlots(
  bytes: Uint8Array,
  { start, count }: StorageGroup,
  visit: (slotFrom: number, slotTo: number, valueFrom: number, valueTo: number) => void,
): void {
  for (let i = 0, at = start; i < count; i++) {
    const slotTo = at + 1 + bytes[at]
    const valueTo = slotTo + 1 + bytes[slotTo]
    visit(at + 1, slotTo, slotTo + 1, valueTo)
    at = valueTo
  }
}

/** Packs changes, unless they are packed. Equal addresses have one number where they are one object. */
export function packChanges(changes: StateChanges | PackedChanges): PackedChanges {
  if ('addresses' in changes) return changes
  const addresses: Uint8Array[] = []
  const known = new Map<Uint8Array, number>()
  const numberOf = (address: Uint8Array) => {
    const number = known.get(address) ?? addresses.push(address) - 1
    known.set(address, number)
    return number
  }
  const accounts = changes.accounts.map(({ address, incarnation, account }) => {
    return { address: numberOf(address), incarnation, account }
  })
  return {
    addresses,
    accounts,
    storage: packStorage(changes.storage, numberOf),
    codes: changes.codes,
    base: changes.base,
  }
}

// Two lengths and two words.
const MAX_SLOT_BYTES = 66

/** Groups consecutive slots of a storage. */
function packStorage(changes: StateChanges['storage'], numberOf: (address: Uint8Array) => number): PackedStorage {
  const bytes = new Uint8Array(MAX_SLOT_BYTES * changes.length)
  const groups: StorageGroup[] = []
  let at = 0
  const write = (value: Uint8Array) => {
    const first = leadingZeros(value)
    bytes[at++] = value.length - first
    for (let i = first; i < value.length; i++) bytes[at++] = value[i]
  }
  for (let from = 0; from < changes.length; ) {
    const { address, incarnation } = changes[from]
    const start = at
    let to = from
    for (; to < changes.length && changes[to].address === address && changes[to].incarnation === incarnation; to++) {
      write(changes[to].slot)
      write(changes[to].value)
    }
    groups.push({ address: numberOf(address), incarnation, start, count: to - from })
    from = to
  }
  return { bytes, groups, length: changes.length }
}
