import { chooseFirst } from '../../chain/crypto.js'
import type { IdRange } from '../../store/rows/rowFilter.js'
import { createGapFilter, GAP_FILTER_KINDS, type GapFilter } from '../segments/gapFilter.js'
import {
  addChunk,
  appendGaps,
  appendShared,
  CHUNK_BITS,
  CHUNK_SIZE,
  ChunkCursor,
  type ChunkSet,
  createChunkSet,
  type PositionList,
  setToBitmap,
} from '../segments/postings.js'

/** The logs of a segment that match one clause, as positions. */
export interface ClausePostings {
  /** Postings of keys with few: ascending, with possible duplicates. */
  small: Uint32Array
  /** Keys with many postings: blobs of `encodeBigPostings`. */
  big: readonly Uint8Array[]
  /** Number of postings, counted per key. */
  total: number
}

/** Reads postings of clauses, with its own memory. Positions are in the range, ascending, without duplicates. */
export interface ClauseReader {
  /** Positions that match the clause. */
  list(clause: ClausePostings, range: IdRange): Uint32Array
  /** Positions that match both. */
  intersect(clauses: readonly [ClausePostings, ClausePostings], range: IdRange): Uint32Array
}

/** Creates a reader, which keeps 72 KiB. */
export function createClauseReader(): ClauseReader {
  const filter = chooseFirst(GAP_FILTER_KINDS, createGapFilter).implementation
  const scratch = [filter.set, createChunkSet()] as const
  return {
    list: (clause, range) => {
      const own = new ClauseCursor(clause)
      return collect(clause.total, range, (part, out) => {
        own.moveTo(part.chunk)
        if (own.atMost === 0) return
        if (own.isList) own.appendTo(out)
        else {
          own.fill(scratch[0])
          appendShared([scratch[0], scratch[0]], part, out)
        }
      })
    },
    intersect: ([a, b], range) => {
      const left = new ClauseCursor(a)
      const right = new ClauseCursor(b)
      return collect(Math.min(a.total, b.total), range, (part, out) => {
        left.moveTo(part.chunk)
        if (left.atMost === 0) return
        right.moveTo(part.chunk)
        if (right.atMost === 0) return
        // The longer list is iterated, so the shorter one becomes the set.
        const [few, many] = left.atMost < right.atMost ? [left, right] : [right, left]
        const [list, other] = many.isList ? [many, few] : [few, many]
        other.fill(scratch[0])
        if (list.isList) list.appendShared(filter, out)
        else {
          list.fill(scratch[1])
          appendShared(scratch, part, out)
        }
      })
    },
  }
}

/** A chunk and the wanted range in it; positions outside may be included. */
interface ChunkPart extends IdRange {
  chunk: number
}

/** Concatenates the results of `append` over the chunks of the range, and cuts off what is outside. */
function collect(
  atMost: number,
  { from, to }: IdRange,
  append: (part: ChunkPart, out: PositionList) => void,
): Uint32Array {
  const first = from >> CHUNK_BITS
  const last = (to - 1) >> CHUNK_BITS
  const out = { values: new Uint32Array(Math.min(atMost, (last - first + 1) * CHUNK_SIZE)), count: 0 }
  for (let chunk = first; chunk <= last; chunk++) {
    const start = chunk * CHUNK_SIZE
    append({ chunk, from: Math.max(from - start, 0), to: Math.min(to - start, CHUNK_SIZE) }, out)
  }
  const found = out.values.subarray(0, out.count)
  return found.subarray(lowerBound(found, from, 0), lowerBound(found, to, 0))
}

/** Iterates over the chunks of a clause's postings. */
class ClauseCursor {
  /** Upper bound of postings in the chunk: a gap takes at least one byte, and a bitmap has more postings than bytes. */
  atMost = 0
  readonly #small: Uint32Array
  readonly #big: ChunkCursor[]
  /** Members of `#big` that have the chunk. */
  readonly #held: ChunkCursor[] = []
  /** The chunk's part of `#small`. */
  #from = 0
  #to = 0
  #chunk = -1

  constructor({ small, big }: ClausePostings) {
    this.#small = small
    this.#big = big.map((blob) => new ChunkCursor(blob))
  }

  /** Advances to a later chunk. */
  moveTo(chunk: number): void {
    const small = this.#small
    const held = this.#held
    this.#chunk = chunk
    this.#from = lowerBound(small, chunk * CHUNK_SIZE, this.#to)
    this.#to = lowerBound(small, (chunk + 1) * CHUNK_SIZE, this.#from)
    this.atMost = this.#to - this.#from
    held.length = 0
    for (const postings of this.#big) {
      postings.skipTo(chunk)
      if (postings.chunk !== chunk) continue
      held.push(postings)
      this.atMost += postings.end - postings.start
    }
  }

  /** True if the chunk has one list of positions, not several or a bitmap. */
  get isList(): boolean {
    const held = this.#held
    return this.#from === this.#to ? held.length === 1 && !held[0].isBitmap : held.length === 0
  }

  /** Appends the positions of a list. */
  appendTo(out: PositionList): void {
    const held = this.#held
    if (held.length === 1) appendGaps(held[0], this.#chunk * CHUNK_SIZE, out)
    else appendEach(this.#small.subarray(this.#from, this.#to), out)
  }

  /** Appends the positions of a list that are in the filter's set. */
  appendShared(filter: GapFilter, out: PositionList): void {
    const held = this.#held
    if (held.length === 1) filter.appendTo(out, held[0])
    else appendEachIn(this.#small.subarray(this.#from, this.#to), filter.set, out)
  }

  /** Fills the set with the chunk's positions. */
  fill(set: ChunkSet): void {
    const held = this.#held
    if (this.#from === this.#to && held.length === 1 && held[0].isBitmap) {
      setToBitmap(set, held[0])
      return
    }
    const { words } = set
    words.fill(0)
    for (const postings of held) addChunk(postings, set)
    for (let i = this.#from; i < this.#to; i++) {
      const position = this.#small[i]
      words[(position & (CHUNK_SIZE - 1)) >>> 5] |= 1 << position
    }
  }
}

/** Appends ascending positions without duplicates. */
function appendEach(positions: Uint32Array, out: PositionList): void {
  let last = -1
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]
    if (position !== last) out.values[out.count++] = position
    last = position
  }
}

/** Appends ascending positions of one chunk that are in its set, without duplicates. */
function appendEachIn(positions: Uint32Array, { words }: ChunkSet, out: PositionList): void {
  let last = -1
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]
    const word = words[(position & (CHUNK_SIZE - 1)) >>> 5]
    if (position !== last && ((word >>> position) & 1) === 1) out.values[out.count++] = position
    last = position
  }
}

/** The first index from `low` on with a value of at least `value`. */
function lowerBound(sorted: Uint32Array, value: number, low: number): number {
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
