import { keccak256Into } from '../chain/crypto.js'
import type { SiblingPlace, StateKeys } from './missingNodes.js'

// A path of n nibbles takes 16^n hashes on average, 0.4 µs each.
const MAX_HASHES = 2 ** 22
const SLOT_BYTES = 32
const ADDRESS_BYTES = 20

/** Returns keys whose hashes lead to the places, so that their proofs have the nodes there: a slot of the account, or
 *  an address. They are found by trying. Undefined when that takes more than some four million hashes, as for most
 *  paths of more than five nibbles. */
export function findSiblingKeys(places: readonly SiblingPlace[]): StateKeys[] | undefined {
  const keys: StateKeys[] = []
  const budget = { hashes: MAX_HASHES }
  for (const { address, path } of places) {
    const found = findKey(path, address ? SLOT_BYTES : ADDRESS_BYTES, budget)
    if (found === undefined) return undefined
    keys.push(address ? { address, slots: [found] } : { address: found, slots: [] })
  }
  return keys
}

/** Returns the first key whose hash begins with the nibbles, of 0, 1, 2, …; undefined when the budget is used up. */
function findKey(path: Uint8Array, length: number, budget: { hashes: number }): Uint8Array | undefined {
  const key = new Uint8Array(length)
  const hash = new Uint8Array(32)
  const view = new DataView(key.buffer)
  for (let count = 0; budget.hashes > 0; count++) {
    budget.hashes--
    view.setUint32(length - 4, count)
    keccak256Into(key, hash, 0)
    if (path.every((nibble, i) => nibble === (i % 2 === 0 ? hash[i >> 1] >> 4 : hash[i >> 1] & 15))) return key
  }
  return undefined
}
