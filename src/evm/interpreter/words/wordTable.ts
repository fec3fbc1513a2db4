import { randomFillSync } from 'node:crypto'
import type { MemoryMeter } from '../memoryMeter.js'
import { copyWord, enlarged, LIMBS, sameWords, type Words } from './words.js'

/** Ids 0, 1, 2… for pairs of a space and a word, in insertion order: a hash table in typed arrays with linear probing.
 *  Keys come from untrusted clients, so the hash is keyed (NH): a pair of keys chosen without knowing the random
 *  numbers collides in at most one of 2^16 tables. */
export class WordTable {
  /** Number of ids. */
  count = 0
  private keys: Words
  private spaces: Int32Array
  private buckets: Int32Array // id + 1; 0 is free
  private readonly meter: MemoryMeter | undefined
  private asked = 0 // hash of the word last looked up
  private readonly secret = randomFillSync(new Int32Array(2 * LIMBS + 1))

  /** An empty table; `capacity` is a power of 2. `meter` is charged before it grows. */
  constructor(capacity = 256, meter?: MemoryMeter) {
    this.meter = meter
    this.keys = new Int32Array(capacity * LIMBS)
    this.spaces = new Int32Array(capacity)
    this.buckets = new Int32Array(capacity * 2)
  }

  /** The id of the word at `a` of `s` in the space; -1 if it has none. */
  find(space: number, s: Words, a: number): number {
    const { buckets } = this
    const mask = buckets.length - 1
    const hash = this.hash(space, s, a)
    this.asked = hash
    let at = hash & mask
    for (;;) {
      const id = buckets[at] - 1
      if (id < 0) return -1
      if (this.spaces[id] === space && sameWords(this.keys, id * LIMBS, s, a)) return id
      at = (at + 1) & mask
    }
  }

  /** Assigns the next id to the word, which must have none in the space. */
  insert(space: number, s: Words, a: number): number {
    return this.insertHashed(this.hash(space, s, a), space, s, a)
  }

  /** Like `insert`, for the word last passed to `find`, reusing its hash. */
  insertAbsent(space: number, s: Words, a: number): number {
    return this.insertHashed(this.asked, space, s, a)
  }

  private insertHashed(hash: number, space: number, s: Words, a: number): number {
    if (this.count * 2 >= this.buckets.length) this.grow()
    const id = this.count++
    this.spaces[id] = space
    copyWord(s, a, this.keys, id * LIMBS)
    this.place(id, hash)
    return id
  }

  /** Limbs of all keys, that of id i at i × 8. Valid until the next `insert`. */
  get words(): Words {
    return this.keys
  }

  /** The space of an id. */
  spaceOf(id: number): number {
    return this.spaces[id]
  }

  /** Bytes of its arrays. */
  bytes(): number {
    return this.keys.byteLength + this.spaces.byteLength + this.buckets.byteLength
  }

  /** Drops all ids. Releases memory beyond 2^16 ids, and if few of many were used, because each clearing takes time. */
  clear(): void {
    if (this.count === 0) return
    const capacity = this.spaces.length
    const fits = capacity <= 1024 || (capacity <= 0x1_0000 && this.count * 8 >= capacity)
    this.count = 0
    if (fits) {
      this.buckets.fill(0)
      return
    }
    this.keys = new Int32Array(256 * LIMBS)
    this.spaces = new Int32Array(256)
    this.buckets = new Int32Array(512)
  }

  private hash(space: number, s: Words, a: number): number {
    const { secret } = this
    let h = Math.imul(space, secret[2 * LIMBS] | 1)
    for (let i = 0; i < LIMBS; i++) {
      const limb = s[a + i]
      h = (h + Math.imul((limb + secret[2 * i]) & 0xffff, ((limb >>> 16) + secret[2 * i + 1]) & 0xffff)) | 0
    }
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
    return h ^ (h >>> 13)
  }

  private place(id: number, hash: number): void {
    const { buckets } = this
    const mask = buckets.length - 1
    let at = hash & mask
    while (buckets[at] !== 0) at = (at + 1) & mask
    buckets[at] = id + 1
  }

  private grow(): void {
    this.meter?.take(this.bytes())
    const capacity = this.spaces.length * 2
    this.keys = enlarged(this.keys, capacity * LIMBS)
    this.spaces = enlarged(this.spaces, capacity)
    this.buckets = new Int32Array(capacity * 2)
    for (let id = 0; id < this.count; id++) this.place(id, this.hash(this.spaces[id], this.keys, id * LIMBS))
  }
}
