import type { Database } from '../store/open.js'

/** Chunks that a segment of a level covers; its first chunk is a multiple of it. */
export const MERGE_FACTOR = 8
/** Segments of this level, 2^22 items, are not merged further: their largest blobs are 512 KiB. */
export const MAX_LEVEL = 2

/** The chunks in a segment of a level. */
export function chunksOf(level: number): number {
  return MERGE_FACTOR ** level
}

/** `building` is not looked at by queries; `dropped` waits for its rows to be deleted. */
export type SegmentState = 'building' | 'live' | 'dropped'

/** A stretch of chunks with an index over their items. */
export interface Segment {
  id: number
  level: number
  firstChunk: number
  state: SegmentState
}

/** How many chunks from the first on the live segments cover. */
export function sealedChunks(segments: readonly Segment[]): number {
  let next = 0
  for (const { firstChunk, level } of segments) {
    if (firstChunk !== next) break
    next += chunksOf(level)
  }
  return next
}

// Room for buckets (16 bits at the highest level) and large postings of a segment in the keys of their tables.
const BUCKET_SPACE = 2 ** 20
const POSTING_SPACE = 2 ** 26

/** Reads and writes of the index's tables, through statements prepared once. The writing ones need a connection that
 *  may write, and take effect with the transaction that the caller is in. */
export interface SegmentStore {
  /** By first chunk, then level. */
  segments(state: SegmentState): Segment[]
  bucket(segment: number, bucket: number): Uint8Array | undefined
  bigPostings(segment: number, ordinal: number): Uint8Array
  createSegment(level: number, firstChunk: number, state: SegmentState): number
  setState(segment: number, state: SegmentState): void
  putBucket(segment: number, bucket: number, blob: Uint8Array): void
  putBigPostings(segment: number, ordinal: number, blob: Uint8Array): void
  /** How many rows the segment has in each table. */
  countRows(segment: number): { buckets: number; bigPostings: number }
  /** Ids that rows are stored under and that no segment has, ascending: none unless a hand was in the tables. */
  straySegments(): number[]
  /** Makes dropped segments of those, so that their rows are deleted with the others. */
  dropStrayRows(): void
  /** Deletes at most `limit` rows of a segment; true when none are left, and the segment is gone. */
  deleteRows(segment: number, limit: number): boolean
}

/** The store of an open database. */
export function createSegmentStore(db: Database): SegmentStore {
  const selectSegments = db.prepare<[SegmentState], Segment>(
    `SELECT id, level, first_chunk AS firstChunk, state FROM log_segments WHERE state = ? ORDER BY first_chunk, level`,
  )
  const selectBucket = db.prepare<[number], Uint8Array>('SELECT data FROM log_buckets WHERE id = ?').pluck()
  const selectBig = db.prepare<[number], Uint8Array>('SELECT data FROM log_big_postings WHERE id = ?').pluck()
  const lazily = <T>(make: () => T) => {
    let made: T | undefined
    return () => {
      made ??= make()
      return made
    }
  }
  const insertSegment = lazily(() =>
    db.prepare('INSERT INTO log_segments (level, first_chunk, state) VALUES (?, ?, ?)'),
  )
  const updateState = lazily(() => db.prepare('UPDATE log_segments SET state = ? WHERE id = ?'))
  const insertBucket = lazily(() => db.prepare('INSERT INTO log_buckets (id, data) VALUES (?, ?)'))
  const insertBig = lazily(() => db.prepare('INSERT INTO log_big_postings (id, data) VALUES (?, ?)'))
  const insertStray = lazily(() =>
    db.prepare("INSERT INTO log_segments (id, level, first_chunk, state) VALUES (?, 0, 0, 'dropped')"),
  )
  const hasSegment = lazily(() => db.prepare<[number], number>('SELECT 1 FROM log_segments WHERE id = ?').pluck())
  const countIn = (table: string) =>
    lazily(() => db.prepare<[number, number], number>(`SELECT count(*) FROM ${table} WHERE id >= ? AND id < ?`).pluck())
  const countBuckets = countIn('log_buckets')
  const countBig = countIn('log_big_postings')
  const stored = (table: string, space: number): number[] => {
    const next = db.prepare<[number], number | null>(`SELECT min(id) FROM ${table} WHERE id >= ?`).pluck()
    const found: number[] = []
    for (let id = next.get(0); typeof id === 'number'; id = next.get((found[found.length - 1] + 1) * space)) {
      found.push(Math.floor(id / space))
    }
    return found
  }
  const straySegments = () => {
    const ids = new Set([...stored('log_buckets', BUCKET_SPACE), ...stored('log_big_postings', POSTING_SPACE)])
    return Array.from(ids)
      .filter((id) => hasSegment().get(id) === undefined)
      .sort((a, b) => a - b)
  }
  const deleteSome = (table: string) =>
    db.prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id >= ? AND id < ? LIMIT ?)`)
  const deleteBuckets = lazily(() => deleteSome('log_buckets'))
  const deleteBig = lazily(() => deleteSome('log_big_postings'))
  const deleteSegment = lazily(() => db.prepare('DELETE FROM log_segments WHERE id = ?'))
  return {
    segments: (state) => selectSegments.all(state),
    bucket: (segment, bucket) => selectBucket.get(segment * BUCKET_SPACE + bucket),
    bigPostings: (segment, ordinal) => selectBig.get(segment * POSTING_SPACE + ordinal)!,
    createSegment: (level, firstChunk, state) => Number(insertSegment().run(level, firstChunk, state).lastInsertRowid),
    setState: (segment, state) => void updateState().run(state, segment),
    putBucket: (segment, bucket, blob) => void insertBucket().run(segment * BUCKET_SPACE + bucket, blob),
    putBigPostings: (segment, ordinal, blob) => void insertBig().run(segment * POSTING_SPACE + ordinal, blob),
    countRows: (segment) => ({
      buckets: countBuckets().get(...rangeOf(segment, BUCKET_SPACE))!,
      bigPostings: countBig().get(...rangeOf(segment, POSTING_SPACE))!,
    }),
    straySegments,
    dropStrayRows: () => {
      for (const id of straySegments()) insertStray().run(id)
    },
    deleteRows: (segment, limit) => {
      let left = limit - deleteBuckets().run(...rangeOf(segment, BUCKET_SPACE), limit).changes
      if (left > 0) left -= deleteBig().run(...rangeOf(segment, POSTING_SPACE), left).changes
      if (left <= 0) return false
      deleteSegment().run(segment)
      return true
    },
  }
}

function rangeOf(segment: number, space: number): [from: number, to: number] {
  return [segment * space, (segment + 1) * space]
}
