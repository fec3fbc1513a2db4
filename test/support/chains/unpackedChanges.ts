import { padLeft } from '../../../src/lib/bytes.js'
import { type PackedChanges, visitSlots } from '../../../src/store/rows/packedChanges.js'
import type { StateChanges, StorageChange } from '../../../src/store/rows/stateChanges.js'

/** The changes with an object for each slot. */
export function unpackChanges({ addresses, accounts, storage: packed, codes }: PackedChanges): StateChanges {
  const storage: StorageChange[] = []
  const { bytes } = packed
  for (const group of packed.groups) {
    const { incarnation } = group
    const address = addresses[group.address]
    visitSlots(bytes, group, (slotFrom, slotTo, valueFrom, valueTo) => {
      const slot = padLeft(bytes.subarray(slotFrom, slotTo), 32)
      storage.push({ address, incarnation, slot, value: bytes.subarray(valueFrom, valueTo) })
    })
  }
  return { accounts: accounts.map((each) => ({ ...each, address: addresses[each.address] })), storage, codes }
}
