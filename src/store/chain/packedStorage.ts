import { leadingZeros } from '../../lib/bytes.js'
import type { StorageChange } from './stateChanges.js'

/* The changed slots of a block in one buffer. An object and two views for each slot would cost as much as inserting its row. */

/** Changed slots. */
export interface PackedStorage {
  /** Of each slot, one after another: its length (1 byte), its bytes, the length of the value, the value; both without leading zeros. There
   *  may be other bytes between groups. */
  readonly bytes: Uint8Array
  readonly groups: readonly StorageGroup[]
  /** Slots of all groups. */
  readonly length: number
}

/** Slots of one incarnation of an account. */
export interface StorageGroup {
  readonly address: Uint8Array // 20
  readonly incarnation: number
  /** Where its first slot begins in the bytes. */
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

// Two lengths and two words.
const MAX_SLOT_BYTES = 66

/** Packs slots. Those of a storage that come one after another are one group, with the address of the first one. */
export function packStorage(changes: readonly StorageChange[]): PackedStorage {
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
    groups.push({ address, incarnation, start, count: to - from })
    from = to
  }
  return { bytes, groups, length: changes.length }
}
