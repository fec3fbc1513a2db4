import {
  addChunk,
  CHUNK_BITS,
  CHUNK_SIZE,
  type ChunkBitmap,
  type ChunkPostings,
  createBitmap,
  decodeGapsTo,
  intersectBytes,
  isBitmap,
  listBitmap,
} from '../segments/postings.js'
import type { IdRange } from './index.js'

/** The logs of a segment that meet one clause, as positions in the segment. */
export interface ClausePostings {
  /** Of keys with few: ascending, a position may be there more than once. */
  small: Uint32Array
  /** Of keys with many, by chunk. */
  big: Map<number, ChunkPostings[]>
  /** How many there are, counting a position once for each of its keys. */
  total: number
}

/** Ids of the logs that meet all clauses, in the range of positions, ascending. `offsetOf` gives the id at which a chunk
 *  begins. */
export function intersectClauses(
  clauses: ClausePostings[],
  range: IdRange,
  offsetOf: (chunk: number) => number,
): number[] {
  const [driver, ...others] = clauses.sort((a, b) => a.total - b.total)
  const scratch = [createScratch(), createScratch()] as const
  const out: number[] = []
  for (const chunk of chunksIn(driver, range)) {
    const start = chunk * CHUNK_SIZE
    const part = { from: Math.max(range.from - start, 0), to: Math.min(range.to - start, CHUNK_SIZE) }
    intersectChunk([driver, ...others], { chunk, part, scratch }, offsetOf(chunk), out)
  }
  return out
}

interface ChunkPlace {
  chunk: number
  /** Positions in the chunk. */
  part: IdRange
  scratch: readonly [Scratch, Scratch]
}

// Postings of a chunk that are read one by one; more are taken as a bitmap.
const FEW_POSTINGS = 4_096

function intersectChunk(clauses: readonly ClausePostings[], place: ChunkPlace, offset: number, out: number[]): void {
  const { chunk, part, scratch } = place
  const held = clauses.map((clause) => inChunk(clause, chunk)).sort((a, b) => a.atMost - b.atMost)
  const [driver, ...others] = held
  if (driver.atMost === 0) return
  if (driver.atMost <= FEW_POSTINGS) {
    const [left, right] = scratch
    let count = listPositions(driver, part, left.positions)
    for (const other of others) {
      if (count === 0) return
      if (other.atMost <= FEW_POSTINGS) {
        count = keepShared(left, count, right.positions, listPositions(other, part, right.positions))
      } else count = keepInBitmap(left.positions, count, bitmapBytes(other, right))
    }
    for (let i = 0; i < count; i++) out.push(offset + left.positions[i])
    return
  }
  const [left, right] = scratch
  let bytes = bitmapBytes(driver, left)
  if (others.length === 0 && bytes !== left.bytes) left.bytes.set(bytes)
  for (const other of others) {
    if (!intersectBytes(bytes, bitmapBytes(other, right), left.bitmap)) return
    bytes = left.bytes
  }
  listBitmap(left.bitmap, offset, part.from, part.to, out)
}

/** Memory for the positions of a chunk. */
interface Scratch {
  bitmap: ChunkBitmap
  /** The same memory as `bitmap`. */
  bytes: Uint8Array
  positions: Uint16Array
}

function createScratch(): Scratch {
  const bitmap = createBitmap()
  // Of FEW_POSTINGS at most, those of several keys together.
  return { bitmap, bytes: new Uint8Array(bitmap.buffer), positions: new Uint16Array(FEW_POSTINGS) }
}

/** Keeps of the first `count` positions those that the bitmap has, in front. @returns how many */
function keepInBitmap(positions: Uint16Array, count: number, bytes: Uint8Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const position = positions[i]
    if ((bytes[position >>> 3] & (1 << (position & 7))) !== 0) positions[kept++] = position
  }
  return kept
}

/** Keeps of the first `count` positions of `left` those that are among the others, by marking them in its bitmap: a merge of
 *  two lists would guess wrong at every other step. @returns how many */
function keepShared({ positions, bitmap }: Scratch, count: number, others: Uint16Array, otherCount: number): number {
  bitmap.fill(0)
  for (let i = 0; i < count; i++) bitmap[positions[i] >>> 5] |= 1 << (positions[i] & 31)
  let kept = 0
  for (let i = 0; i < otherCount; i++) {
    const position = others[i]
    if ((bitmap[position >>> 5] & (1 << (position & 31))) !== 0) positions[kept++] = position
  }
  return kept
}

/** What a clause has in a chunk. */
interface ChunkHolding {
  /** Those of keys with few postings, as positions in the chunk. */
  small: Uint32Array
  chunk: number
  big: readonly ChunkPostings[]
  /** No more postings than this. */
  atMost: number
}

function inChunk({ small, big }: ClausePostings, chunk: number): ChunkHolding {
  const own = small.subarray(lowerBound(small, chunk * CHUNK_SIZE), lowerBound(small, (chunk + 1) * CHUNK_SIZE))
  const postings = big.get(chunk) ?? []
  // A gap takes a byte or more; a bitmap is only made for more postings than it has bytes.
  const atMost = postings.reduce((sum, { payload }) => sum + payload.length, own.length)
  return { small: own, chunk, big: postings, atMost }
}

/** Writes the positions that lie in the part to `out`, ascending, each once. @returns how many */
function listPositions({ small, chunk, big }: ChunkHolding, { from, to }: IdRange, out: Uint16Array): number {
  let all = 0
  for (const position of small) out[all++] = position - chunk * CHUNK_SIZE
  for (const { payload } of big) all = decodeGapsTo(payload, out, all)
  const sources = big.length + Math.min(small.length, 1)
  if (sources === 1 && small.length === 0 && from === 0 && to === CHUNK_SIZE) return all
  if (sources > 1) out.subarray(0, all).sort()
  let count = 0
  for (let i = 0; i < all; i++) {
    const position = out[i]
    if (position >= from && position < to && (count === 0 || position !== out[count - 1])) out[count++] = position
  }
  return count
}

/** The bitmap of a holding as bytes: the stored one where that is all there is, otherwise made in `scratch`. */
function bitmapBytes({ small, chunk, big }: ChunkHolding, { bitmap, bytes }: Scratch): Uint8Array {
  if (small.length === 0 && big.length === 1 && isBitmap(big[0])) return big[0].payload
  bitmap.fill(0)
  for (const postings of big) addChunk(postings, bitmap)
  for (const position of small) {
    const at = position - chunk * CHUNK_SIZE
    bitmap[at >>> 5] |= 1 << (at & 31)
  }
  return bytes
}

/** The chunks of the range in which a clause has something, ascending. */
function chunksIn({ small, big }: ClausePostings, { from, to }: IdRange): number[] {
  const chunks = new Set<number>()
  for (let at = lowerBound(small, from); at < small.length && small[at] < to; ) {
    const chunk = small[at] >> CHUNK_BITS
    chunks.add(chunk)
    at = lowerBound(small, (chunk + 1) * CHUNK_SIZE)
  }
  const last = (to - 1) >> CHUNK_BITS
  for (const chunk of big.keys()) if (chunk >= from >> CHUNK_BITS && chunk <= last) chunks.add(chunk)
  return Array.from(chunks).sort((a, b) => a - b)
}

/** The first place whose value is at least `value`. */
function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
