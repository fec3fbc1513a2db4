import { padLeft } from '../../src/lib/bytes.js'
import { visitSlots } from '../../src/store/chain/packedStorage.js'
import type { PackedChanges, StateChanges, StorageChange } from '../../src/store/chain/stateChanges.js'

/** The changes with an object for each slot. */
export function unpackChanges({ storage: packed, ...changes }: PackedChanges): StateChanges {
  const storage: StorageChange[] = []
  const { bytes } = packed
  for (const group of packed.groups) {
    const { address, incarnation } = group
    visitSlots(bytes, group, (slotFrom, slotTo, valueFrom, valueTo) => {
      const slot = padLeft(bytes.subarray(slotFrom, slotTo), 32)
      storage.push({ address, incarnation, slot, value: bytes.subarray(valueFrom, valueTo) })
    })
  }
  return { ...changes, storage }
}
