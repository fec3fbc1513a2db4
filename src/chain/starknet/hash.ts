import { bytesToBigInt } from '../../lib/bytes.js'
import { keccak256 } from '../crypto.js'
import { curve } from './curve.js'
import type { Felt } from './felt.js'
import type { PairHasher } from './pedersen.js'

/** Poseidon hashes of pairs of felts. */
export const poseidonPairs: PairHasher = (pairs) => pairs.map(([a, b]) => curve().poseidonHash(a, b))

/** Poseidon hash of a list of felts. */
export function hashPoseidon(values: readonly Felt[]): Felt {
  return curve().poseidonHashMany([...values])
}

/** Starknet's keccak: the low 250 bits of keccak-256. */
export function starknetKeccak(bytes: Uint8Array): Felt {
  return bytesToBigInt(keccak256(bytes)) & ((1n << 250n) - 1n)
}

/** The hash chain of each list, h(…h(h(0, a), b)…, length) (Starknet documentation, "Hash functions: array hashing").
 *  All chains advance together, so that each call of `hashPairs` gets many pairs. */
export function hashChains(lists: readonly (readonly Felt[])[], hashPairs: PairHasher): Felt[] {
  const hashes: Felt[] = lists.map(() => 0n)
  const longest = lists.reduce((length, list) => Math.max(length, list.length), 0)
  for (let i = 0; i <= longest; i++) {
    const running: number[] = []
    for (let n = 0; n < lists.length; n++) if (i <= lists[n].length) running.push(n)
    const pairs = running.map((n) => [hashes[n], lists[n][i] ?? BigInt(lists[n].length)] as const)
    hashPairs(pairs).forEach((hash, k) => {
      hashes[running[k]] = hash
    })
  }
  return hashes
}
