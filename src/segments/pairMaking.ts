import type { Segment, SegmentStore } from '../store/segments/segmentStore.js'
import { countItems } from './keyLookup.js'
import {
  compareKeys,
  createPairTable,
  encodePairs,
  type HashedKey,
  MAX_PAIRED_KEYS,
  openPairs,
  type PairTable,
  type StoredPairs,
  setCoOccurring,
} from './keyPairs.js'

/** A frequent key of a chunk. */
export interface FrequentKey extends HashedKey {
  /** Positions of its items, ascending. */
  positions: Uint16Array
}

/** Fewer items of a chunk than this do not make a key frequent: to read them costs less than the table of pairs. */
export function leastFrequent(chunkItems: number): number {
  return Math.max(1, chunkItems >> 10)
}

// Postings marked, or keys looked up, between two ends of a step: about 1 ms.
const POSTINGS_PER_STEP = 30_000
const KEYS_PER_STEP = 200

/** Makes the table of a chunk's most frequent keys, in steps: each `next` is one. */
export function* pairsOfChunk(frequent: FrequentKey[], chunkItems: number): Generator<void, PairTable> {
  const most = frequent.sort((a, b) => b.positions.length - a.positions.length).slice(0, MAX_PAIRED_KEYS)
  const keys = most.sort(compareKeys)
  const table = createPairTable(keys)
  yield* markTogether(
    keys.map(({ positions }) => positions),
    chunkItems,
    (i, j) => setCoOccurring(table, i, j),
  )
  return table
}

/** Calls `mark` for each two keys, the lesser first, that an item of the chunk has; the same two may come again. */
export function* markTogether(
  positionsOf: readonly Uint16Array[],
  chunkItems: number,
  mark: (i: number, j: number) => void,
): Generator<void, void> {
  // For each item a linked list of its keys so far.
  const first = new Int32Array(chunkItems).fill(-1)
  const total = positionsOf.reduce((sum, positions) => sum + positions.length, 0)
  const next = new Int32Array(total)
  const keyOf = new Uint16Array(total)
  let held = 0
  let pause = POSTINGS_PER_STEP
  for (const [j, positions] of positionsOf.entries()) {
    for (const position of positions) {
      for (let at = first[position]; at !== -1; at = next[at]) mark(keyOf[at], j)
      keyOf[held] = j
      next[held] = first[position]
      first[position] = held++
    }
    if (held > pause) {
      pause = held + POSTINGS_PER_STEP
      yield
    }
  }
}

// What is known of a key in one source of a merge, where it is not among the source's paired keys.
const HELD = -1
const ABSENT = -2

/** Makes the table of a segment from those of the segments that it was merged from, in steps, and stores it. Two keys are
 *  together in it when they are in a source, or when a source has both and does not say. */
export function* mergePairs(
  store: SegmentStore,
  { sources, target }: { sources: readonly Segment[]; target: Segment },
): Generator<void, void> {
  const tables = sources.map(({ id }) => {
    const blob = store.pairs(id)
    return blob && openPairs(blob)
  })
  const keys = yield* mostFrequent(store, tables, target)
  const table = createPairTable(keys)
  for (const [s, source] of sources.entries()) {
    const places = new Int32Array(keys.length)
    for (const [k, key] of keys.entries()) {
      places[k] = tables[s]?.indexOf(key) ?? HELD
      if (places[k] === HELD && countItems(store, source, key) === 0) places[k] = ABSENT
      if (k % KEYS_PER_STEP === KEYS_PER_STEP - 1) yield
    }
    addSource(table, places, tables[s])
    yield
  }
  store.putPairs(target.id, encodePairs(table))
}

function addSource(table: PairTable, places: Int32Array, source: StoredPairs | undefined): void {
  for (let j = 1; j < places.length; j++) {
    if (places[j] === ABSENT) continue
    for (let i = 0; i < j; i++) {
      if (places[i] === ABSENT) continue
      const known = source !== undefined && places[i] >= 0 && places[j] >= 0
      if (!known || source.coOccur(places[i], places[j])) setCoOccurring(table, i, j)
    }
  }
}

/** The keys with the most items in the target among those of the tables, ascending. */
function* mostFrequent(
  store: SegmentStore,
  tables: readonly (StoredPairs | undefined)[],
  target: Segment,
): Generator<void, HashedKey[]> {
  const counts = new Map<string, HashedKey & { count: number }>()
  let lookedUp = 0
  for (const table of tables) {
    for (let i = 0; table && i < table.count; i++) {
      const key = table.key(i)
      const name = `${key.high}/${key.low}`
      if (counts.has(name)) continue
      counts.set(name, { ...key, count: countItems(store, target, key) })
      if (++lookedUp % KEYS_PER_STEP === 0) yield
    }
  }
  return Array.from(counts.values())
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_PAIRED_KEYS)
    .sort(compareKeys)
}
