import { randomBytes } from 'node:crypto'

/** A bounded map from byte strings of one length to integers from 0 to 2^32 - 1. */
interface ByteIds {
  /** The integer of the bytes; undefined if absent. @throws RangeError for another length */
  get(bytes: Uint8Array): number | undefined
  /** Adds absent bytes. A full map is cleared first. @throws RangeError for another length */
  add(bytes: Uint8Array, id: number): void
}

const FIRST_CAPACITY = 256

/** Creates a map of at most `capacity` strings of `length` bytes (a multiple of 4), about `length + 16` bytes of memory
 *  each, up to four times as much right after growing. Four times as fast as a `Map`, which needs string keys. The hash
 *  is keyed at random, so untrusted clients cannot choose collisions. */
export function createByteIds(length: number, capacity: number): ByteIds {
  const words = length >> 2
  const record = words + 1 // the words of a string, then its integer: a look-up waits for memory twice
  let room = Math.min(capacity, FIRST_CAPACITY)
  let entryOf = new Uint32Array(slotsFor(room)) // entry + 1, 0: free
  let mask = entryOf.length - 1
  let records = new Int32Array(room * record)
  const seeds = new Int32Array(randomBytes((words + 1) * 4).buffer.slice(0)).subarray(0, words + 1)
  const key = new Int32Array(words)
  let count = 0

  /** Reads the bytes into `key`; returns the slot where they are, or would be inserted. */
  const find = (bytes: Uint8Array): number => {
    if (bytes.length !== length) throw new RangeError(`${bytes.length} bytes where ${length} are wanted`)
    let hash = seeds[words]
    for (let i = 0, at = 0; i < words; i++, at += 4) {
      const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
      key[i] = word
      hash = mix(hash, word, i)
    }
    return findKey(hash)
  }
  const mix = (hash: number, word: number, i: number): number => {
    const mixed = Math.imul(hash ^ word, seeds[i] | 1)
    return mixed ^ (mixed >>> 15)
  }
  const findKey = (hash: number): number => {
    let slot = (Math.imul(hash, 0x9e3779b1) >>> 7) & mask
    for (;;) {
      const entry = entryOf[slot]
      if (entry === 0) return slot
      let i = 0
      for (const base = (entry - 1) * record; i < words && records[base + i] === key[i]; ) i++
      if (i === words) return slot
      slot = (slot + 1) & mask
    }
  }
  const grow = (): void => {
    room = Math.min(capacity, room * 4)
    const before = records
    records = new Int32Array(room * record)
    records.set(before)
    entryOf = new Uint32Array(slotsFor(room))
    mask = entryOf.length - 1
    for (let entry = 0; entry < count; entry++) {
      let hash = seeds[words]
      for (let i = 0; i < words; i++) {
        key[i] = records[entry * record + i]
        hash = mix(hash, key[i], i)
      }
      entryOf[findKey(hash)] = entry + 1
    }
  }
  return {
    get: (bytes) => {
      const entry = entryOf[find(bytes)]
      return entry === 0 ? undefined : records[entry * record - 1] >>> 0
    },
    add: (bytes, id) => {
      if (count === capacity) {
        entryOf.fill(0)
        count = 0
      } else if (count === room) grow()
      const slot = find(bytes)
      records.set(key, count * record)
      records[count * record + words] = id
      count++
      entryOf[slot] = count
    },
  }
}

/** At most half full, so that a search ends after a step or two. */
function slotsFor(entries: number): number {
  return 2 ** Math.ceil(Math.log2(entries * 2))
}
