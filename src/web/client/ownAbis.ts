import type { Abi } from 'viem'
import { parseAbiText } from '../contractCalls.js'

/* ABIs that the user added in this browser, by contract. They are kept in the browser's storage and sent nowhere. */

const PREFIX = 'cairn-abi-'

/** Returns the ABI that was added for a contract in this browser; undefined if none was. */
export function readOwnAbi(address: string): Abi | undefined {
  try {
    const stored = localStorage.getItem(PREFIX + address.toLowerCase())
    return stored === null ? undefined : (parseAbiText(stored) as unknown as Abi)
  } catch {
    // Without storage, and where what is stored is malformed, no ABI is used.
    return undefined
  }
}

/** Keeps an ABI in this browser, or removes it if undefined. Returns false if the storage refuses it. */
export function keepOwnAbi(address: string, abi: Abi | undefined): boolean {
  try {
    if (abi === undefined) localStorage.removeItem(PREFIX + address.toLowerCase())
    else localStorage.setItem(PREFIX + address.toLowerCase(), JSON.stringify(abi))
    return true
  } catch {
    return false
  }
}
