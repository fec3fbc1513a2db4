import { compareTrieKeys, KEY_BYTES } from './nodeFormat.js'

/** Bytes [from, to) of an array. */
export interface ByteRange {
  bytes: Uint8Array
  from: number
  to: number
}

/** A change of the value at a key. */
export interface TrieUpdate {
  readonly key: Uint8Array // 32
  /** Returns the new stored value from the old one; undefined: none. */
  change(before: Uint8Array | undefined): Uint8Array | undefined
}

/** Changes of the values at distinct keys in ascending order, by index. */
export interface SortedChanges {
  /** The keys, 32 bytes each. */
  readonly keys: Uint8Array
  /** Replaces `value`, the stored value before, by the one after, valid until the next call. An empty range: none. */
  change(index: number, value: ByteRange): void
}

/** The updates in the order of their keys. */
export function sortUpdates(updates: readonly TrieUpdate[]): SortedChanges {
  const given = new Uint8Array(updates.length * KEY_BYTES)
  updates.forEach(({ key }, i) => {
    given.set(key, i * KEY_BYTES)
  })
  const keys = new Uint8Array(given.length)
  const order = createKeySorter()(given, keys, { from: 0, to: updates.length })
  return {
    keys,
    change: (index, value) => {
      const { bytes, from, to } = value
      const after = updates[order[index]].change(from === to ? undefined : bytes.subarray(from, to))
      value.bytes = after ?? bytes
      value.from = 0
      value.to = after?.length ?? 0
    },
  }
}

/** Copies keys [from, to) of `given` to the same positions of `sorted` in ascending order. Both begin at a multiple of
 *  4 of their buffers.
 *  @returns their indexes from `from` on, valid until the next call */
export type KeySorter = (given: Uint8Array, sorted: Uint8Array, range: { from: number; to: number }) => Uint32Array

const WORDS = KEY_BYTES / 4
// Up to this many, insertion is faster than a call of `sort`.
const FEW = 12

/** Sorts numbers made of the first bits of a key and, below them, its index: 53 bits together. This is four times as
 *  fast as sorting with a function that compares keys. */
export function createKeySorter(): KeySorter {
  let room = 0
  let prefixes = new Float64Array(0)
  let order = new Uint32Array(0)
  return (given, sorted, { from, to }) => {
    const count = to - from
    if (count > room) {
      room = count * 2
      prefixes = new Float64Array(room)
      order = new Uint32Array(room)
    }
    const indexes = 2 ** Math.ceil(Math.log2(Math.max(count, 2)))
    const dropped = Math.max(1, indexes / 2 ** 5)
    for (let i = 0, at = from * KEY_BYTES; i < count; i++, at += KEY_BYTES) {
      prefixes[i] = Math.floor(prefixAt(given, at) / dropped) * indexes + i
    }
    if (count > FEW) prefixes.subarray(0, count).sort()
    else insertionSort(prefixes, count)
    for (let i = 0, last = -1; i < count; i++) {
      const prefix = Math.floor(prefixes[i] / indexes)
      order[i] = prefixes[i] - prefix * indexes
      if (prefix === last) sink(given, order, i, from)
      last = prefix
    }
    const source = new Int32Array(given.buffer, given.byteOffset, given.length >> 2)
    const target = new Int32Array(sorted.buffer, sorted.byteOffset, sorted.length >> 2)
    for (let i = 0, to = from * WORDS; i < count; i++) {
      const at = (from + order[i]) * WORDS
      for (let word = 0; word < WORDS; word++) target[to++] = source[at + word]
    }
    return order
  }
}

/** The first 48 bits. */
function prefixAt(bytes: Uint8Array, at: number): number {
  const high = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2]
  return high * 2 ** 24 + ((bytes[at + 3] << 16) | (bytes[at + 4] << 8) | bytes[at + 5])
}

function insertionSort(numbers: Float64Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const number = numbers[i]
    let to = i
    for (; to > 0 && numbers[to - 1] > number; to--) numbers[to] = numbers[to - 1]
    numbers[to] = number
  }
}

/** Moves the i-th key down among those before it, which are in order. */
function sink(keys: Uint8Array, order: Uint32Array, i: number, from: number): void {
  const index = order[i]
  const at = (from + index) * KEY_BYTES
  let to = i
  for (; to > 0 && compareTrieKeys(keys, (from + order[to - 1]) * KEY_BYTES, keys, at) > 0; to--)
    order[to] = order[to - 1]
  order[to] = index
}
