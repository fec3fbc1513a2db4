/** Items, logs for one, are indexed in chunks of 2^16, aligned to multiples of it: the n-th chunk has the ids from
 *  n * 2^16 on. In a segment an item has the position `chunk << 16 | place in the chunk`. */
export const CHUNK_BITS = 16
export const CHUNK_SIZE = 1 << CHUNK_BITS
const BITMAP_WORDS = CHUNK_SIZE / 32
const BITMAP_BYTES = CHUNK_SIZE / 8

/** Postings of a key that do not fit in its bucket: per chunk either gaps in varints or, in place of 4 KiB of them or more, a bitmap.
 *  Layout, little-endian: u16 chunks | chunks × (u16 chunk, u8 kind, u24 bytes) | payloads in the same order. */
const KIND_GAPS = 0
const KIND_BITMAP = 1
const ENTRY_BYTES = 6

/** The chunks of one key's postings, in ascending order. */
export interface ChunkPostings {
  chunk: number // within the segment
  kind: typeof KIND_GAPS | typeof KIND_BITMAP
  payload: Uint8Array
}

/** Gaps in varints (LEB128) of ids in ascending order: the first id itself, then the differences. */
export function encodeGaps(ids: ArrayLike<number>, from = 0, to = ids.length): Uint8Array {
  const out: number[] = []
  let last = 0
  for (let i = from; i < to; i++) {
    let gap = ids[i] - last
    last = ids[i]
    while (gap > 127) {
      out.push((gap & 127) | 128)
      gap >>>= 7
    }
    out.push(gap)
  }
  return Uint8Array.from(out)
}

/** Appends the ids of `encodeGaps` plus `offset` to `out`. */
export function decodeGaps(bytes: Uint8Array, start: number, end: number, offset: number, out: number[]): void {
  let id = offset
  let gap = 0
  let shift = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    gap |= (byte & 127) << shift
    if (byte > 127) {
      shift += 7
      continue
    }
    id += gap
    out.push(id)
    gap = 0
    shift = 0
  }
}

/** Writes the ids of `encodeGaps`, all below 2^16, to `out` from `at` on. @returns where the next goes */
export function decodeGapsTo(bytes: Uint8Array, out: Uint16Array, at: number): number {
  let next = at
  let id = 0
  for (let i = 0; i < bytes.length; i++) {
    let byte = bytes[i]
    let gap = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[++i]
      gap |= (byte & 127) << shift
    }
    id += gap
    out[next++] = id
  }
  return next
}

/** How many ids `encodeGaps` had. */
export function countGaps(bytes: Uint8Array): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] < 128) count++
  return count
}

// Somewhat longer bitmaps are taken: two of them are intersected in the time in which a thousand gaps are decoded. Costs
// 0.1 byte a log.
const MAX_GAP_BYTES = BITMAP_BYTES / 2

/** The postings of one chunk in the better form. `ids` are positions in the chunk, [from, to) of the array. */
export function encodeChunk(chunk: number, ids: ArrayLike<number>, from: number, to: number): ChunkPostings {
  if (to - from < BITMAP_BYTES) {
    const payload = encodeGaps(ids, from, to)
    if (payload.length < MAX_GAP_BYTES) return { chunk, kind: KIND_GAPS, payload }
  }
  const payload = new Uint8Array(BITMAP_BYTES)
  for (let i = from; i < to; i++) payload[ids[i] >> 3] |= 1 << (ids[i] & 7)
  return { chunk, kind: KIND_BITMAP, payload }
}

/** The blob of a key's chunks. */
export function encodeBigPostings(chunks: readonly ChunkPostings[]): Uint8Array {
  const head = 2 + chunks.length * ENTRY_BYTES
  const out = Buffer.alloc(chunks.reduce((sum, { payload }) => sum + payload.length, head))
  out.writeUInt16LE(chunks.length, 0)
  let at = head
  for (const [i, { chunk, kind, payload }] of chunks.entries()) {
    const entry = 2 + i * ENTRY_BYTES
    out.writeUInt16LE(chunk, entry)
    out[entry + 2] = kind
    out.writeUIntLE(payload.length, entry + 3, 3)
    out.set(payload, at)
    at += payload.length
  }
  return out
}

/** The chunks of a blob, as views into it. */
export function decodeBigPostings(blob: Uint8Array): ChunkPostings[] {
  const view = Buffer.from(blob.buffer, blob.byteOffset, blob.length)
  const count = view.readUInt16LE(0)
  const chunks: ChunkPostings[] = []
  let at = 2 + count * ENTRY_BYTES
  for (let i = 0; i < count; i++) {
    const entry = 2 + i * ENTRY_BYTES
    const length = view.readUIntLE(entry + 3, 3)
    const kind = view[entry + 2] === KIND_BITMAP ? KIND_BITMAP : KIND_GAPS
    chunks.push({ chunk: view.readUInt16LE(entry), kind, payload: view.subarray(at, at + length) })
    at += length
  }
  return chunks
}

/** A set of positions in a chunk: one bit each, 8 KiB. */
export type ChunkBitmap = Uint32Array

/** An empty bitmap. */
export function createBitmap(): ChunkBitmap {
  return new Uint32Array(BITMAP_WORDS)
}

/** Whether the payload is a bitmap: bit p of byte p / 8 for each position p, 8 KiB. Otherwise it is gaps. */
export function isBitmap({ kind }: ChunkPostings): boolean {
  return kind === KIND_BITMAP
}

/** Adds the postings of a chunk to a bitmap. */
export function addChunk({ kind, payload }: ChunkPostings, into: ChunkBitmap): void {
  if (kind === KIND_BITMAP) {
    const view = new DataView(payload.buffer, payload.byteOffset, BITMAP_BYTES)
    for (let i = 0; i < BITMAP_WORDS; i++) into[i] |= view.getUint32(i * 4, true)
    return
  }
  let id = 0
  let gap = 0
  let shift = 0
  for (let i = 0; i < payload.length; i++) {
    const byte = payload[i]
    gap |= (byte & 127) << shift
    if (byte > 127) {
      shift += 7
      continue
    }
    id += gap
    into[id >>> 5] |= 1 << (id & 31)
    gap = 0
    shift = 0
  }
}

/** Writes what is in both bitmaps, as their bytes, to `out`, which may be one of them; true when there is something. Stored
 *  bitmaps begin at any byte: they are read where they lie. */
export function intersectBytes(a: Uint8Array, b: Uint8Array, out: ChunkBitmap): boolean {
  const left = new DataView(a.buffer, a.byteOffset, BITMAP_BYTES)
  const right = new DataView(b.buffer, b.byteOffset, BITMAP_BYTES)
  let any = 0
  for (let i = 0; i < BITMAP_WORDS; i++) {
    const both = left.getUint32(i * 4, true) & right.getUint32(i * 4, true)
    out[i] = both
    any |= both
  }
  return any !== 0
}

/** Appends the positions in a bitmap plus `offset` to `out`, those in [from, to) only. */
export function listBitmap(bitmap: ChunkBitmap, offset: number, from: number, to: number, out: number[]): void {
  const lastWord = (to - 1) >>> 5
  for (let w = from >>> 5; w <= lastWord; w++) {
    let word = bitmap[w]
    while (word !== 0) {
      const bit = 31 - Math.clz32(word & -word)
      const position = (w << 5) | bit
      if (position >= from && position < to) out.push(offset + position)
      word &= word - 1
    }
  }
}
