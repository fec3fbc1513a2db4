import type { Log } from '../chain/eth/types.js'
import { trimLeft } from '../lib/bytes.js'
import type { KeyHasher } from './keyHash.js'
import { CHUNK_LOGS } from './postings.js'

/** Position of the keys that say how many topics a log has at least: their value is that number. */
export const PRESENCE_POSITION = 5

/** Calls `visit` once for each key of a log, with the hash in `hasher`: address, topics, and how many topics. */
export function visitKeys(log: Pick<Log, 'address' | 'topics'>, hasher: KeyHasher, visit: () => void): void {
  hasher.hashBytes(0, log.address)
  visit()
  for (let i = 0; i < log.topics.length; i++) {
    hasher.hashBytes(i + 1, trimLeft(log.topics[i]))
    visit()
    hasher.hashId(PRESENCE_POSITION, i + 1)
    visit()
  }
}

/** The keys of one chunk's logs as they are added. Memory: 9 keys a log at most, 8 bytes each. */
export interface ChunkBuilder {
  /** Logs added so far. */
  readonly count: number
  add(log: Pick<Log, 'address' | 'topics'>): void
  /** Calls `visit` for each key in the order of its hash with the positions [from, to) of its logs in `positions`. */
  visitSorted(visit: (high: number, low: number, positions: Uint16Array, from: number, to: number) => void): void
  clear(): void
}

const MAX_KEYS = CHUNK_LOGS * 9

/** A builder for chunks, to be used again and again. */
export function createChunkBuilder(hasher: KeyHasher): ChunkBuilder {
  const highs = new Uint32Array(MAX_KEYS)
  const lows = new Uint16Array(MAX_KEYS)
  const positions = new Uint16Array(MAX_KEYS)
  let keys = 0
  let count = 0
  const push = () => {
    highs[keys] = hasher.high
    lows[keys] = hasher.low
    positions[keys] = count
    keys++
  }
  return {
    get count() {
      return count
    },
    add: (log) => {
      visitKeys(log, hasher, push)
      count++
    },
    visitSorted: (visit) => {
      const order = sortKeys(highs, lows, keys)
      const sorted = new Uint16Array(keys)
      for (let i = 0; i < keys; i++) sorted[i] = positions[order[i]]
      for (let from = 0; from < keys; ) {
        const first = order[from]
        let to = from + 1
        while (to < keys && highs[order[to]] === highs[first] && lows[order[to]] === lows[first]) to++
        visit(highs[first], lows[first], sorted, from, to)
        from = to
      }
    },
    clear: () => {
      keys = 0
      count = 0
    },
  }
}

/** The order of (high, low), equal ones as they came: a radix sort from the least digit. */
function sortKeys(highs: Uint32Array, lows: Uint16Array, length: number): Uint32Array {
  let order = Uint32Array.from({ length }, (_, i) => i)
  let next = new Uint32Array(length)
  const passes: ((key: number) => number)[] = [
    (key) => lows[key],
    (key) => highs[key] & 0xffff,
    (key) => highs[key] >>> 16,
  ]
  for (const digitOf of passes) {
    const starts = new Uint32Array(0x10001)
    for (let i = 0; i < length; i++) starts[digitOf(order[i]) + 1]++
    for (let digit = 0; digit < 0x10000; digit++) starts[digit + 1] += starts[digit]
    for (let i = 0; i < length; i++) next[starts[digitOf(order[i])]++] = order[i]
    ;[order, next] = [next, order]
  }
  return order
}
