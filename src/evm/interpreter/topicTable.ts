import { LIMBS, type Words, wordToBytes } from './words/words.js'

// 2.5 MB at most, with arrays of 250 bytes. A power of two.
const TOPICS = 2 ** 13

/** Recently logged topics. Most topics recur, and finding one takes a third of the time of allocating and collecting an
 *  array. */
export class TopicTable {
  private words: Words | undefined // of the topics, parallel to `arrays`; created with the first
  private arrays: (Uint8Array | undefined)[] = []

  /** The word as 32 big-endian bytes, in a shared array that must not be written to. */
  of(s: Words, a: number): Uint8Array {
    if (this.words === undefined) {
      this.words = new Int32Array(TOPICS * LIMBS)
      this.arrays = new Array(TOPICS).fill(undefined)
    }
    const { words } = this
    const place = placeOf(s, a)
    const base = place * LIMBS
    let i = 0
    while (i < LIMBS && words[base + i] === s[a + i]) i++
    const held = this.arrays[place]
    if (i === LIMBS && held !== undefined) return held
    for (i = 0; i < LIMBS; i++) words[base + i] = s[a + i]
    const topic = wordToBytes(s, a)
    this.arrays[place] = topic
    return topic
  }
}

/** A direct-mapped cache: each topic has one slot, which keeps the latest. The hash only spreads them; a miss
 *  allocates. */
function placeOf(s: Words, a: number): number {
  let hash = 0
  for (let i = 0; i < LIMBS; i++) {
    hash = Math.imul(hash ^ s[a + i], 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return (Math.imul(hash, 0x85ebca6b) >>> 9) & (TOPICS - 1)
}
