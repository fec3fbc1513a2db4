import {
  addChunk,
  CHUNK_BITS,
  CHUNK_SIZE,
  type ChunkBitmap,
  type ChunkPostings,
  createBitmap,
  intersectBitmaps,
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
  /** Keys of the clause that the segment has. */
  keys: number
}

/** Ids of the logs that meet all clauses, in the range of positions, ascending. `offsetOf` gives the id at which a chunk
 *  begins. */
export function intersectClauses(
  clauses: ClausePostings[],
  range: IdRange,
  offsetOf: (chunk: number) => number,
): number[] {
  const [driver, ...others] = clauses.sort((a, b) => a.total - b.total)
  const scratch = [createBitmap(), createBitmap()] as const
  const out: number[] = []
  for (const chunk of chunksIn(driver, range)) {
    const start = chunk * CHUNK_SIZE
    const part = { from: Math.max(range.from - start, 0), to: Math.min(range.to - start, CHUNK_SIZE) }
    if (driver.big.has(chunk)) intersectDense(driver, others, { chunk, part, scratch }, offsetOf(chunk), out)
    else intersectSparse(driver, others, { chunk, part, scratch }, offsetOf(chunk), out)
  }
  return out
}

interface ChunkPart {
  chunk: number
  /** Positions in the chunk. */
  part: IdRange
  scratch: readonly [ChunkBitmap, ChunkBitmap]
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

function intersectDense(
  driver: ClausePostings,
  others: ClausePostings[],
  place: ChunkPart,
  offset: number,
  out: number[],
): void {
  const { chunk, part, scratch } = place
  const [left, right] = scratch
  if (others.some((other) => !hasChunk(other, chunk))) return
  fill(left, driver, chunk)
  for (const other of others) {
    fill(right, other, chunk)
    if (!intersectBitmaps(left, right)) return
  }
  listBitmap(left, offset, part.from, part.to, out)
}

function intersectSparse(
  driver: ClausePostings,
  others: ClausePostings[],
  place: ChunkPart,
  offset: number,
  out: number[],
): void {
  const { chunk, part, scratch } = place
  let positions = sliceChunk(driver.small, chunk, part)
  for (const other of others) {
    if (positions.length === 0) return
    if (!other.big.has(chunk)) {
      positions = intersectSorted(positions, sliceChunk(other.small, chunk, part))
      continue
    }
    const bitmap = scratch[1]
    fill(bitmap, other, chunk)
    positions = positions.filter((position) => (bitmap[position >>> 5] & (1 << (position & 31))) !== 0)
  }
  for (const position of positions) out.push(offset + position)
}

function hasChunk({ small, big }: ClausePostings, chunk: number): boolean {
  if (big.has(chunk)) return true
  const at = lowerBound(small, chunk * CHUNK_SIZE)
  return at < small.length && small[at] >> CHUNK_BITS === chunk
}

/** Makes the bitmap that of the clause in the chunk. */
function fill(bitmap: ChunkBitmap, { small, big }: ClausePostings, chunk: number): void {
  bitmap.fill(0)
  for (const postings of big.get(chunk) ?? []) addChunk(postings, bitmap)
  const end = (chunk + 1) * CHUNK_SIZE
  for (let at = lowerBound(small, chunk * CHUNK_SIZE); at < small.length && small[at] < end; at++) {
    const position = small[at] & (CHUNK_SIZE - 1)
    bitmap[position >>> 5] |= 1 << (position & 31)
  }
}

/** Positions in the chunk, each once, that lie in the part. */
function sliceChunk(small: Uint32Array, chunk: number, { from, to }: IdRange): number[] {
  const start = chunk * CHUNK_SIZE
  const out: number[] = []
  for (let at = lowerBound(small, start + from); at < small.length && small[at] < start + to; at++) {
    const position = small[at] - start
    if (out[out.length - 1] !== position) out.push(position)
  }
  return out
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
