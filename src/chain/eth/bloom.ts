import { keccak256 } from '../../lib/crypto.js'
import type { Log } from './types.js'

/** Length of a bloom filter in bytes. */
export const BLOOM_BYTES = 256

/** The bloom filter of the logs, 256 bytes: their addresses and topics (Yellow Paper, section 4.4.1). */
export function bloomOf(logs: readonly Log[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const { address, topics } of logs) {
    addToBloom(bloom, address)
    for (const topic of topics) addToBloom(bloom, topic)
  }
  return bloom
}

/** Sets the three bits of `bytes` in the bloom: the low 11 bits of the first three pairs of their keccak-256, counted
 *  from the last bit of the filter. */
export function addToBloom(bloom: Uint8Array, bytes: Uint8Array): void {
  const hash = keccak256(bytes)
  for (let i = 0; i < 6; i += 2) {
    const bit = ((hash[i] << 8) | hash[i + 1]) & 0x7ff
    bloom[BLOOM_BYTES - 1 - (bit >> 3)] |= 1 << (bit & 7)
  }
}

/** Sets in `into` every bit of `other`. */
export function orBloom(into: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < BLOOM_BYTES; i++) into[i] |= other[i]
}
