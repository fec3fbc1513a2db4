import { KEY_BITS } from './keyHash.js'

/* A bucket holds the keys of a segment whose hashes start with the same bits. Layout, little-endian:
 *   u16 n | n × u32 fingerprint, ascending | n × u8 length | postings, concatenated
 * Length 255 marks big postings: their 8 bytes are u32 ordinal, u32 count, and the postings are in a blob of their own.
 * Otherwise postings are varint gaps, and their count is found by decoding them. */

/** Longer postings go into a blob of their own. */
export const MAX_INLINE_BYTES = 254
/** Length byte that marks big postings. */
export const BIG_LENGTH = 255
const LOW_VALUES = 2 ** (KEY_BITS - 32)
/** Bytes of an entry with big postings. */
export const BIG_BYTES = 8

/** Number of hash bits that select the bucket, by segment level: keeps a bucket at about 1 KB. */
export function bucketBits(level: number): number {
  return 10 + 3 * level
}

/** The bucket of a hash. */
export function bucketOf(high: number, bits: number): number {
  return high >>> (32 - bits)
}

/** The hash bits below the bucket: fewer than 2^32. */
export function fingerprintOf(high: number, low: number, bits: number): number {
  return ((high << bits) >>> bits) * LOW_VALUES + low
}

/** A key's entry in a bucket. */
export type BucketEntry =
  | { fingerprint: number; postings: Uint8Array }
  | { fingerprint: number; big: { ordinal: number; count: number } }

/** The blob of a bucket. Entries are sorted by fingerprint. */
export function encodeBucket(entries: readonly BucketEntry[]): Uint8Array {
  const payload = entries.reduce((sum, entry) => sum + ('big' in entry ? BIG_BYTES : entry.postings.length), 0)
  const out = Buffer.alloc(2 + entries.length * 5 + payload)
  out.writeUInt16LE(entries.length, 0)
  const lengths = 2 + entries.length * 4
  let at = lengths + entries.length
  for (const [i, entry] of entries.entries()) {
    out.writeUInt32LE(entry.fingerprint, 2 + i * 4)
    if ('big' in entry) {
      out[lengths + i] = BIG_LENGTH
      out.writeUInt32LE(entry.big.ordinal, at)
      out.writeUInt32LE(entry.big.count, at + 4)
      at += BIG_BYTES
    } else {
      out[lengths + i] = entry.postings.length
      out.set(entry.postings, at)
      at += entry.postings.length
    }
  }
  return out
}

/** All entries of a bucket in order. Postings are views into the blob. */
export function decodeBucket(blob: Uint8Array): BucketEntry[] {
  const view = asBuffer(blob)
  const n = view.readUInt16LE(0)
  const lengths = 2 + n * 4
  let at = lengths + n
  return Array.from({ length: n }, (_, i) => {
    const entry = readEntry(view, { fingerprint: view.readUInt32LE(2 + i * 4), length: view[lengths + i], at })
    at += entrySize(view[lengths + i])
    return entry
  })
}

/** The entry of a fingerprint; undefined if missing. */
export function findInBucket(blob: Uint8Array, fingerprint: number): BucketEntry | undefined {
  const view = asBuffer(blob)
  const n = view.readUInt16LE(0)
  let low = 0
  let high = n - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const at = 2 + middle * 4
    const found = (view[at] | (view[at + 1] << 8) | (view[at + 2] << 16) | (view[at + 3] << 24)) >>> 0
    if (found === fingerprint) return entryAt(view, n, middle, fingerprint)
    if (found < fingerprint) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

function entryAt(view: Buffer, n: number, index: number, fingerprint: number): BucketEntry {
  const lengths = 2 + n * 4
  let at = lengths + n
  for (let i = 0; i < index; i++) at += entrySize(view[lengths + i])
  return readEntry(view, { fingerprint, length: view[lengths + index], at })
}

function entrySize(length: number): number {
  return length === BIG_LENGTH ? BIG_BYTES : length
}

function readEntry(view: Buffer, place: { fingerprint: number; length: number; at: number }): BucketEntry {
  const { fingerprint, length, at } = place
  if (length !== BIG_LENGTH) return { fingerprint, postings: view.subarray(at, at + length) }
  return { fingerprint, big: { ordinal: view.readUInt32LE(at), count: view.readUInt32LE(at + 4) } }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
