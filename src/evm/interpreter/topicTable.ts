import { LIMBS, type Words, wordToBytes } from './words/words.js'

// 2.5 MB at most, with arrays of 250 bytes. A power of two.
const TOPICS = 2 ** 13

/** The arrays of topics that were logged lately. Most topics come again and again: to find one takes a third of the time
 *  that it takes to make an array and to get rid of it. */
export class TopicTable {
  private words: Words | undefined // of the topics, and `arrays` beside them; made with the first
  private arrays: (Uint8Array | undefined)[] = []

  /** The word as 32 big-endian bytes, in an array that others may have, too: never to be written to. */
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

/** Each topic has one place, where the last one stays. A hash that only spreads them: one that is not found is made. */
function placeOf(s: Words, a: number): number {
  let hash = 0
  for (let i = 0; i < LIMBS; i++) {
    hash = Math.imul(hash ^ s[a + i], 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return (Math.imul(hash, 0x85ebca6b) >>> 9) & (TOPICS - 1)
}
