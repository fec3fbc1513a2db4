/* The most expensive query with an empty answer combines two keys that many items have, but no item both. So a segment
 * records which of its most frequent keys co-occur in an item.
 *
 * Layout, little-endian: u16 n | n × (u32 high, u16 low), ascending | one bit per pair i < j, at j * (j - 1) / 2 + i,
 * lowest bit of a byte first. A bit set for a pair that never co-occurs costs time; a bit missing for one that does
 * would lose results. */

/** Most frequent keys of a segment whose pairs are recorded: at most 19 KB. */
export const MAX_PAIRED_KEYS = 512

/** Bytes of a key in the blob. */
const KEY_BYTES = 6
const HEAD_BYTES = 2

/** A key's hash. */
export interface HashedKey {
  high: number
  low: number
}

/** Which frequent keys of a segment co-occur, while the table is built. */
export interface PairTable {
  /** Ascending. */
  keys: readonly HashedKey[]
  /** As in the blob. */
  bits: Uint8Array
}

/** Creates a table without co-occurrences. `keys` are ascending, at most `MAX_PAIRED_KEYS`. */
export function createPairTable(keys: readonly HashedKey[]): PairTable {
  return { keys, bits: new Uint8Array(bitBytes(keys.length)) }
}

/** Records that keys i and j co-occur; i < j. */
export function setCoOccurring({ bits }: PairTable, i: number, j: number): void {
  const bit = (j * (j - 1)) / 2 + i
  bits[bit >> 3] |= 1 << (bit & 7)
}

/** The blob of a table. */
export function encodePairs({ keys, bits }: PairTable): Uint8Array {
  const out = Buffer.alloc(HEAD_BYTES + keys.length * KEY_BYTES + bits.length)
  out.writeUInt16LE(keys.length, 0)
  for (const [i, { high, low }] of keys.entries()) {
    out.writeUInt32LE(high, HEAD_BYTES + i * KEY_BYTES)
    out.writeUInt16LE(low, HEAD_BYTES + i * KEY_BYTES + 4)
  }
  out.set(bits, HEAD_BYTES + keys.length * KEY_BYTES)
  return out
}

/** A stored table, read in place. */
export interface StoredPairs {
  readonly count: number
  key(index: number): HashedKey
  /** Index of a key; -1 if the table does not have it. */
  indexOf(key: HashedKey): number
  /** Whether an item may have both keys i and j. */
  coOccur(i: number, j: number): boolean
}

/** Opens the blob of `encodePairs`. @throws RangeError if its length is wrong. */
export function openPairs(blob: Uint8Array): StoredPairs {
  const view = Buffer.from(blob.buffer, blob.byteOffset, blob.length)
  const count = view.readUInt16LE(0)
  const bitsAt = HEAD_BYTES + count * KEY_BYTES
  if (view.length !== bitsAt + bitBytes(count)) throw new RangeError(`${view.length} bytes for ${count} keys`)
  const highAt = (index: number) => view.readUInt32LE(HEAD_BYTES + index * KEY_BYTES)
  const lowAt = (index: number) => view.readUInt16LE(HEAD_BYTES + index * KEY_BYTES + 4)
  return {
    count,
    key: (index) => ({ high: highAt(index), low: lowAt(index) }),
    indexOf: ({ high, low }) => {
      let first = 0
      let last = count - 1
      while (first <= last) {
        const middle = (first + last) >> 1
        const order = highAt(middle) - high || lowAt(middle) - low
        if (order === 0) return middle
        if (order < 0) first = middle + 1
        else last = middle - 1
      }
      return -1
    },
    coOccur: (i, j) => {
      if (i === j) return true
      const [less, more] = i < j ? [i, j] : [j, i]
      const bit = (more * (more - 1)) / 2 + less
      return (view[bitsAt + (bit >> 3)] & (1 << (bit & 7))) !== 0
    },
  }
}

function bitBytes(keys: number): number {
  return Math.ceil((keys * (keys - 1)) / 2 / 8)
}

/** Sort order of keys in a table. */
export function compareKeys(a: HashedKey, b: HashedKey): number {
  return a.high - b.high || a.low - b.low
}
