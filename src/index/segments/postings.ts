/** Items are indexed in chunks of 2^16 aligned ids: chunk n has the ids from n * 2^16. In a segment an item has the
 *  position `chunk << 16 | offset in the chunk`. */
export const CHUNK_BITS = 16
export const CHUNK_SIZE = 1 << CHUNK_BITS
const BITMAP_WORDS = CHUNK_SIZE / 32
const BITMAP_BYTES = CHUNK_SIZE / 8

/** Postings of a key that do not fit in its bucket: per chunk either gaps in varints or, in place of 4 KiB of them or
 *  more, a bitmap. Layout, little-endian: u16 chunks | chunks × (u16 chunk, u8 kind, u24 bytes) | payloads in the same
 *  order. */
const KIND_GAPS = 0
const KIND_BITMAP = 1
const ENTRY_BYTES = 6
/** A chunk number that no segment has. */
const NO_CHUNK = CHUNK_SIZE

/** Postings of one key by chunk, ascending. */
export interface ChunkPostings {
  chunk: number // within the segment
  kind: typeof KIND_GAPS | typeof KIND_BITMAP
  payload: Uint8Array
}

/** Varint gaps (LEB128) of ascending ids: the first id, then the differences. */
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

/** A range of bytes. */
interface ByteStretch {
  bytes: Uint8Array
  start: number
  end: number
}

/** Ascending positions: the first `count` of `values`. */
export interface PositionList {
  values: Uint32Array
  count: number
}

/** Appends the ids of `encodeGaps` plus `offset` to a list with enough room. Branch-free, because whether a gap takes
 *  one byte or two is mispredicted too often. */
export function appendGaps({ bytes, start, end }: ByteStretch, offset: number, list: PositionList): void {
  const { values } = list
  let { count } = list
  let id = offset
  let shift = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    const more = byte >>> 7
    id += (byte & 127) << shift
    shift = (shift + 7) & -more
    values[count] = id
    count += 1 - more
  }
  list.count = count
}

/** Number of ids in `encodeGaps` output. */
export function countGaps(bytes: Uint8Array): number {
  let count = bytes.length
  for (let i = 0; i < bytes.length; i++) count -= bytes[i] >>> 7
  return count
}

// Bitmaps are used up to twice the length of the gaps: intersecting two takes the time of decoding a thousand gaps.
// Costs 0.1 byte per log.
const MAX_GAP_BYTES = BITMAP_BYTES / 2

/** The postings of one chunk in the better form. `ids` are positions in the chunk: [from, to) of the array. */
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

/** Appends the positions of a chunk's postings in the segment to `out`, ascending. */
export function appendPositions({ chunk, kind, payload }: ChunkPostings, out: number[]): void {
  const offset = chunk * CHUNK_SIZE
  if (kind === KIND_GAPS) {
    decodeGaps(payload, 0, payload.length, offset, out)
    return
  }
  for (let position = 0; position < payload.length * 8; position++) {
    if (payload[position >> 3] & (1 << (position & 7))) out.push(offset + position)
  }
}

/** Iterates over the chunks of an `encodeBigPostings` blob in place: `start` to `end` is the payload of the current
 *  chunk. */
export class ChunkCursor implements ByteStretch {
  readonly bytes: Uint8Array
  start: number
  end: number
  /** Chunk within the segment; NO_CHUNK after the last one. */
  chunk = NO_CHUNK
  /** True if the payload is a bitmap of 8 KiB: bit p of byte p / 8 for position p. Otherwise it is gaps. */
  isBitmap = false
  #entry = 2
  readonly #entriesEnd: number

  /** Starts at the first chunk. */
  constructor(blob: Uint8Array) {
    this.bytes = blob
    this.#entriesEnd = 2 + (blob[0] | (blob[1] << 8)) * ENTRY_BYTES
    this.start = this.#entriesEnd
    this.end = this.#entriesEnd
    this.#next()
  }

  /** Advances to the first chunk that is not before `chunk`. */
  skipTo(chunk: number): void {
    while (this.chunk < chunk) this.#next()
  }

  #next(): void {
    const { bytes } = this
    const at = this.#entry
    this.start = this.end
    if (at === this.#entriesEnd) {
      this.chunk = NO_CHUNK
      return
    }
    this.chunk = bytes[at] | (bytes[at + 1] << 8)
    this.isBitmap = bytes[at + 2] === KIND_BITMAP
    this.end += bytes[at + 3] | (bytes[at + 4] << 8) | (bytes[at + 5] << 16)
    this.#entry += ENTRY_BYTES
  }
}

/** A set of positions in a chunk, 8 KiB: bit p of word p / 32 for position p. */
export interface ChunkSet {
  readonly words: Int32Array
  /** The same memory. */
  readonly bytes: Uint8Array
}

/** Creates an empty set. */
export function createChunkSet(): ChunkSet {
  return chunkSetIn(new ArrayBuffer(BITMAP_BYTES), 0)
}

/** The set at an offset in a buffer, a multiple of 4. */
export function chunkSetIn(buffer: ArrayBuffer, at: number): ChunkSet {
  return { words: new Int32Array(buffer, at, BITMAP_WORDS), bytes: new Uint8Array(buffer, at, BITMAP_BYTES) }
}

/** Replaces the set by a chunk's bitmap. */
export function setToBitmap({ bytes }: ChunkSet, { bytes: from, start, end }: ByteStretch): void {
  bytes.set(from.subarray(start, end))
}

/** Adds the postings of the cursor's current chunk to a set. */
export function addChunk({ bytes, start, end, isBitmap }: ChunkCursor, { words }: ChunkSet): void {
  if (isBitmap) {
    const from = new DataView(bytes.buffer, bytes.byteOffset + start, BITMAP_BYTES)
    for (let i = 0; i < BITMAP_WORDS; i++) words[i] |= from.getInt32(i * 4, true)
    return
  }
  let position = 0
  let shift = 0
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    const more = byte >>> 7
    position += (byte & 127) << shift
    shift = (shift + 7) & -more
    words[position >>> 5] |= (1 - more) << position
  }
}

/** Appends the positions in both sets of a chunk (which may be the same set), for words with a position in
 *  [from, to). */
export function appendShared(
  [{ words: left }, { words: right }]: readonly [ChunkSet, ChunkSet],
  { chunk, from, to }: { chunk: number; from: number; to: number },
  list: PositionList,
): void {
  const { values } = list
  let { count } = list
  const end = (to + 31) >>> 5
  for (let i = from >>> 5; i < end; i++) {
    let both = left[i] & right[i]
    const offset = chunk * CHUNK_SIZE + i * 32
    while (both !== 0) {
      values[count++] = offset + 31 - Math.clz32(both & -both)
      both &= both - 1
    }
  }
  list.count = count
}
