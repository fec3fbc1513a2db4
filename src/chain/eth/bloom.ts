import { keccak256 } from '../crypto.js'
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

/** Sets the three bits of `bytes` in the bloom: the low 11 bits of the first three 16-bit pairs of its Keccak-256,
 *  counted from the last bit of the filter. */
export function addToBloom(bloom: Uint8Array, bytes: Uint8Array): void {
  const hash = keccak256(bytes)
  for (let i = 0; i < 6; i += 2) setBit(bloom, bitAt(hash, i))
}

function bitAt(hash: Uint8Array, at: number): number {
  return ((hash[at] << 8) | hash[at + 1]) & 0x7ff
}

function setBit(bloom: Uint8Array, bit: number): void {
  bloom[BLOOM_BYTES - 1 - (bit >> 3)] |= 1 << (bit & 7)
}

// The words of an entry: its length and one, and 32 bytes.
const ENTRY_WORDS = 9
// 700 KiB. A miss costs a hash, which takes ten times as long as a hit.
const REMEMBERED = 2 ** 14

/** Like `bloomOf`, with a direct-mapped cache of the bits of addresses and topics, because most recur: `capacity`
 *  entries (a power of two). */
export function createBloomMaker(capacity = REMEMBERED): (logs: readonly Log[]) => Uint8Array {
  const entries = new Int32Array(capacity * ENTRY_WORDS)
  const bits = new Uint16Array(capacity * 3)
  const entry = new Int32Array(ENTRY_WORDS)
  const add = (bloom: Uint8Array, bytes: Uint8Array): void => {
    const place = placeOf(bytes, entry, capacity - 1)
    const at = place * 3
    let i = 0
    for (const base = place * ENTRY_WORDS; i < ENTRY_WORDS && entries[base + i] === entry[i]; ) i++
    if (i < ENTRY_WORDS) {
      const hash = keccak256(bytes)
      for (let bit = 0; bit < 3; bit++) bits[at + bit] = bitAt(hash, bit * 2)
      entries.set(entry, place * ENTRY_WORDS)
    }
    for (let bit = 0; bit < 3; bit++) setBit(bloom, bits[at + bit])
  }
  return (logs) => {
    const bloom = new Uint8Array(BLOOM_BYTES)
    let before: Log | undefined
    for (const log of logs) {
      // Consecutive logs often share the arrays, whose bits are then set already.
      if (log.address !== before?.address) add(bloom, log.address)
      const { topics } = log
      for (let i = 0; i < topics.length; i++) if (topics[i] !== before?.topics[i]) add(bloom, topics[i])
      before = log
    }
    return bloom
  }
}

/** Reads an address or topic into `entry`, preceded by its length; returns its cache index below `mask`. The hash only
 *  spreads them. */
function placeOf(bytes: Uint8Array, entry: Int32Array, mask: number): number {
  if (bytes.length > 32) throw new RangeError(`expected an address or a topic, got ${bytes.length} bytes`)
  entry[0] = bytes.length + 1 // 0: an empty entry
  let hash = bytes.length
  for (let word = 1, at = 0; word < ENTRY_WORDS; word++, at += 4) {
    // An address has no bytes after the fifth word.
    const value =
      at < bytes.length ? bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24) : 0
    entry[word] = value
    hash = Math.imul(hash ^ value, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  // The last steps spread values that differ only in their last bytes, such as numbers.
  return (Math.imul(hash ^ (hash >>> 13), 0x85ebca6b) >>> 9) & mask
}

/** Sets in `into` every bit of `other`. */
export function orBloom(into: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < BLOOM_BYTES; i++) into[i] |= other[i]
}
