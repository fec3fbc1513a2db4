import type { Deadline } from '../lib/deadline.js'
import { createKeyLookup } from '../segments/keyLookup.js'
import type { HashedKey } from '../segments/keyPairs.js'
import { appendGaps, countGaps } from '../segments/postings.js'
import { chunksOf, type Segment, type SegmentStore } from '../store/segments/segmentStore.js'
import type { ClausePostings } from './clausePostings.js'

/** What a segment's buckets have of the keys of a clause: how many logs, before any of them is read. */
export interface ClauseEntries {
  /** Keys that the segment has. */
  keys: HashedKey[]
  /** Their logs, one counted for each of its keys. */
  postings: number
  /** Gaps of the keys that have few. */
  inline: Uint8Array[]
  /** Keys with large postings. */
  big: { ordinal: number; count: number }[]
}

const KEYS_PER_CHECK = 1_000

/** Looks up keys, which are in the order of their hashes. @throws DeadlineExceeded */
export function findEntries(
  store: SegmentStore,
  segment: Segment,
  keys: readonly HashedKey[],
  deadline: Deadline,
): ClauseEntries {
  const lookUp = createKeyLookup(store, segment)
  const found: ClauseEntries = { keys: [], postings: 0, inline: [], big: [] }
  for (const [i, key] of keys.entries()) {
    if (i % KEYS_PER_CHECK === KEYS_PER_CHECK - 1) deadline.check()
    const entry = lookUp(key)
    if (!entry) continue
    found.keys.push(key)
    if ('postings' in entry) {
      found.inline.push(entry.postings)
      found.postings += countGaps(entry.postings)
    } else {
      found.big.push(entry.big)
      found.postings += entry.big.count
    }
  }
  return found
}

// A posting in gaps, and a chunk's bitmap, each with its part of the blob. Measured are 0.003 and 3 beside a list of 300:
// it is more here, because a clause that costs as much as the rows that are left seldom rejects all of them.
const GAP_MICROSECONDS = 0.006
const BITMAP_MICROSECONDS = 5

/** About how long it takes to read the postings and to intersect them with others. */
export function readingMicroseconds({ postings, big }: ClauseEntries, segment: Segment): number {
  const chunks = chunksOf(segment.level)
  let ofBig = 0
  let microseconds = 0
  for (const { count } of big) {
    ofBig += count
    microseconds += Math.min(count * GAP_MICROSECONDS, chunks * BITMAP_MICROSECONDS)
  }
  return microseconds + (postings - ofBig) * GAP_MICROSECONDS
}

/** Reads the postings. */
export function readEntries(store: SegmentStore, segment: Segment, entries: ClauseEntries): ClausePostings {
  const ofBig = entries.big.reduce((sum, { count }) => sum + count, 0)
  const small = { values: new Uint32Array(entries.postings - ofBig), count: 0 }
  for (const bytes of entries.inline) appendGaps({ bytes, start: 0, end: bytes.length }, 0, small)
  if (entries.inline.length > 1) small.values.sort()
  const big = entries.big.map(({ ordinal }) => store.bigPostings(segment.id, ordinal))
  return { small: small.values, big, total: entries.postings }
}
