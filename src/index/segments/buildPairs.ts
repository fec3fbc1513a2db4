import type { Segment, SegmentStore } from '../../store/index/segmentStore.js'
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

/** A key with fewer items in a chunk is not frequent: reading them costs less than the pair table. */
export function leastFrequent(chunkItems: number): number {
  return Math.max(1, chunkItems >> 10)
}

// Postings marked, or keys looked up, per step: about 1 ms.
const POSTINGS_PER_STEP = 30_000
const KEYS_PER_STEP = 200

/** Builds the table of a chunk's most frequent keys; each `next` is one step. */
export function* pairsOfChunk(frequent: FrequentKey[], chunkItems: number): Generator<void, PairTable> {
  const most = frequent.sort((a, b) => b.positions.length - a.positions.length).slice(0, MAX_PAIRED_KEYS)
  const keys = most.sort(compareKeys)
  const table = createPairTable(keys)
  yield* markCoOccurring(
    keys.map(({ positions }) => positions),
    chunkItems,
    (i, j) => setCoOccurring(table, i, j),
  )
  return table
}

/** Calls `mark` for each pair of keys that co-occur in an item of the chunk, lesser key first; a pair may repeat. */
export function* markCoOccurring(
  positionsOf: readonly Uint16Array[],
  chunkItems: number,
  mark: (i: number, j: number) => void,
): Generator<void, void> {
  // Per item a linked list of its keys so far.
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

// State of a key in one merge source that has it but not among its paired keys.
const HELD = -1
const ABSENT = -2

/** Builds the table of a merged segment from those of its sources, in steps, and stores it. Two keys co-occur in it if
 *  they do in a source, or if a source has both but does not record their pair. */
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

/** The keys of the source tables with the most items in the target, ascending. */
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
