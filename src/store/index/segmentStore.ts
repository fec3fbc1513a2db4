import type { Database } from '../database.js'

/** Segments merged into one of the next level; a segment's first chunk is a multiple of its chunk count. */
export const MERGE_FACTOR = 8
/** Tables of an index. Part of the database format. */
export interface IndexTables {
  segments: string
  buckets: string
  /** Undefined when postings always fit into buckets. */
  bigPostings?: string
  /** Record which frequent keys co-occur (see `keyPairs`); needs `bigPostings`. */
  hasPairs?: boolean
  /** Segments of this level are not merged further. */
  maxLevel: number
  /** Id space of a segment's buckets: 2^(10 + 3 * maxLevel) or more. */
  bucketSpace: number
}

/** The chunks in a segment of a level. */
export function chunksOf(level: number): number {
  return MERGE_FACTOR ** level
}

/** Queries ignore `building` segments. The rows of `dropped` segments will be deleted. */
type SegmentState = 'building' | 'live' | 'dropped'

/** A range of chunks with an index over their items. */
export interface Segment {
  id: number
  level: number
  firstChunk: number
  state: SegmentState
}

/** Number of chunks covered by the live segments. */
export function sealedChunks(segments: readonly Segment[]): number {
  let next = 0
  for (const { firstChunk, level } of segments) {
    if (firstChunk !== next) break
    next += chunksOf(level)
  }
  return next
}

// Id space of a segment's big postings.
const POSTING_SPACE = 2 ** 26
// The last ordinal holds the segment's key pairs.
const PAIRS_ORDINAL = POSTING_SPACE - 1

/** Reads and writes the tables of an index, with statements prepared once. Writes need a writing connection and join
 *  the caller's transaction. */
export interface SegmentStore {
  readonly maxLevel: number
  /** By first chunk, then level. */
  segments(state: SegmentState): Segment[]
  bucket(segment: number, bucket: number): Uint8Array | undefined
  /** @throws RangeError when the index has no table for big postings. */
  bigPostings(segment: number, ordinal: number): Uint8Array
  /** The segment's key pairs; undefined when it has none: see `keyPairs`. */
  pairs(segment: number): Uint8Array | undefined
  /** True when the index has key pairs. */
  readonly hasPairs: boolean
  createSegment(level: number, firstChunk: number, state: SegmentState): number
  setState(segment: number, state: SegmentState): void
  putBucket(segment: number, bucket: number, blob: Uint8Array): void
  putBigPostings(segment: number, ordinal: number, blob: Uint8Array): void
  /** @throws RangeError when the index has no key pairs. */
  putPairs(segment: number, blob: Uint8Array): void
  /** Number of the segment's rows per table, without its key pairs. */
  countRows(segment: number): { buckets: number; bigPostings: number }
  /** Ids of segments that have rows but no entry, ascending. Empty unless the tables were edited. */
  straySegments(): number[]
  /** Adds those as dropped segments, so that their rows are deleted. */
  dropStrayRows(): void
  /** Deletes at most `limit` rows of a segment. True once the segment is deleted. */
  deleteRows(segment: number, limit: number): boolean
}

/** Creates the store of one index over an open database. */
export function createSegmentStore(db: Database, tables: IndexTables): SegmentStore {
  const { segments, maxLevel, bucketSpace } = tables
  const selectSegments = db.prepare<[SegmentState], Segment>(
    `SELECT id, level, first_chunk AS firstChunk, state FROM ${segments} WHERE state = ? ORDER BY first_chunk, level`,
  )
  const insertSegment = lazily(() => db.prepare(`INSERT INTO ${segments} (level, first_chunk, state) VALUES (?, ?, ?)`))
  const updateState = lazily(() => db.prepare(`UPDATE ${segments} SET state = ? WHERE id = ?`))
  const insertStray = lazily(() =>
    db.prepare(`INSERT INTO ${segments} (id, level, first_chunk, state) VALUES (?, 0, 0, 'dropped')`),
  )
  const hasSegment = lazily(() => db.prepare<[number], number>(`SELECT 1 FROM ${segments} WHERE id = ?`).pluck())
  const deleteSegment = lazily(() => db.prepare(`DELETE FROM ${segments} WHERE id = ?`))
  const buckets = createBlobTable(db, tables.buckets, bucketSpace)
  const big = tables.bigPostings === undefined ? undefined : createBlobTable(db, tables.bigPostings, POSTING_SPACE)
  const requireBig = () => {
    if (!big) throw new RangeError(`${tables.buckets} has no large postings beside it`)
    return big
  }
  const straySegments = () => {
    const ids = new Set([...buckets.segments(), ...(big?.segments() ?? [])])
    return Array.from(ids)
      .filter((id) => hasSegment().get(id) === undefined)
      .sort((a, b) => a - b)
  }
  return {
    maxLevel,
    segments: (state) => selectSegments.all(state),
    bucket: (segment, bucket) => buckets.get(segment, bucket),
    bigPostings: (segment, ordinal) => requireBig().get(segment, ordinal)!,
    pairs: (segment) => big?.get(segment, PAIRS_ORDINAL),
    hasPairs: tables.hasPairs === true,
    createSegment: (level, firstChunk, state) => Number(insertSegment().run(level, firstChunk, state).lastInsertRowid),
    setState: (segment, state) => void updateState().run(state, segment),
    putBucket: (segment, bucket, blob) => buckets.put(segment, bucket, blob),
    putBigPostings: (segment, ordinal, blob) => requireBig().put(segment, ordinal, blob),
    putPairs: (segment, blob) => requireBig().put(segment, PAIRS_ORDINAL, blob),
    countRows: (segment) => {
      const pairs = big?.get(segment, PAIRS_ORDINAL) === undefined ? 0 : 1
      return { buckets: buckets.count(segment), bigPostings: (big?.count(segment) ?? 0) - pairs }
    },
    straySegments,
    dropStrayRows: () => {
      for (const id of straySegments()) insertStray().run(id)
    },
    deleteRows: (segment, limit) => {
      let left = limit - buckets.deleteSome(segment, limit)
      if (left > 0 && big) left -= big.deleteSome(segment, left)
      if (left <= 0) return false
      deleteSegment().run(segment)
      return true
    },
  }
}

/** Accesses the blobs of segments in a table of (id, data) with `space` consecutive ids per segment. */
function createBlobTable(db: Database, table: string, space: number) {
  const rangeOf = (segment: number): [from: number, to: number] => [segment * space, (segment + 1) * space]
  const select = db.prepare<[number], Uint8Array>(`SELECT data FROM ${table} WHERE id = ?`).pluck()
  const insert = lazily(() => db.prepare(`INSERT INTO ${table} (id, data) VALUES (?, ?)`))
  const count = lazily(() =>
    db.prepare<[number, number], number>(`SELECT count(*) FROM ${table} WHERE id >= ? AND id < ?`).pluck(),
  )
  const deleteSome = lazily(() =>
    db.prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id >= ? AND id < ? LIMIT ?)`),
  )
  return {
    get: (segment: number, index: number) => select.get(segment * space + index),
    put: (segment: number, index: number, blob: Uint8Array) => void insert().run(segment * space + index, blob),
    count: (segment: number) => count().get(...rangeOf(segment))!,
    deleteSome: (segment: number, limit: number) => deleteSome().run(...rangeOf(segment), limit).changes,
    /** Ids of segments with rows, ascending. */
    segments: (): number[] => {
      const next = db.prepare<[number], number | null>(`SELECT min(id) FROM ${table} WHERE id >= ?`).pluck()
      const found: number[] = []
      for (let id = next.get(0); typeof id === 'number'; id = next.get((found[found.length - 1] + 1) * space)) {
        found.push(Math.floor(id / space))
      }
      return found
    },
  }
}

/** Prepares a statement on first use: a read-only connection cannot prepare writes. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
