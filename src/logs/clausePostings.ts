import {
  addChunk,
  CHUNK_BITS,
  CHUNK_SIZE,
  type ChunkBitmap,
  type ChunkPostings,
  createBitmap,
  decodeGaps,
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
const FEW_POSTINGS = 2_000

function intersectChunk(clauses: readonly ClausePostings[], place: ChunkPlace, offset: number, out: number[]): void {
  const { chunk, part, scratch } = place
  const held = clauses.map((clause) => inChunk(clause, chunk)).sort((a, b) => a.atMost - b.atMost)
  const [driver, ...others] = held
  if (driver.atMost === 0) return
  if (driver.atMost <= FEW_POSTINGS) {
    let positions = listPositions(driver, part)
    for (const other of others) {
      if (positions.length === 0) return
      if (other.atMost <= FEW_POSTINGS) positions = intersectSorted(positions, listPositions(other, part))
      else {
        const bytes = bitmapBytes(other, scratch[1])
        positions = positions.filter((position) => (bytes[position >>> 3] & (1 << (position & 7))) !== 0)
      }
    }
    for (const position of positions) out.push(offset + position)
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

/** A bitmap to write in, and its memory as bytes. */
interface Scratch {
  bitmap: ChunkBitmap
  bytes: Uint8Array
}

function createScratch(): Scratch {
  const bitmap = createBitmap()
  return { bitmap, bytes: new Uint8Array(bitmap.buffer) }
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

/** The positions that lie in the part, ascending, each once. */
function listPositions({ small, chunk, big }: ChunkHolding, { from, to }: IdRange): number[] {
  const all: number[] = []
  for (const position of small) all.push(position - chunk * CHUNK_SIZE)
  for (const { payload } of big) decodeGaps(payload, 0, payload.length, 0, all)
  if (big.length + Math.min(small.length, 1) > 1) all.sort((a, b) => a - b)
  const out: number[] = []
  for (const position of all) {
    if (position >= from && position < to && position !== out[out.length - 1]) out.push(position)
  }
  return out
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

function intersectSorted(a: number[], b: number[]): number[] {
  const out: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      out.push(a[i])
      i++
      j++
    } else if (a[i] < b[j]) i++
    else j++
  }
  return out
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
