import { randomBytes } from 'node:crypto'

/** Records of one length by key, in one array that grows. A record begins with its key: a number and bytes. */
export interface RecordTable {
  /** The records one after another, as words of 4 bytes and as bytes. Replaced as it grows. */
  readonly words: Int32Array
  readonly bytes: Uint8Array
  readonly count: number
  /** Returns the index of the record with that key. Creates it if missing, with zeros after its key: `count` then
   *  grows. */
  find(prefix: number, key: Uint8Array): number
}

const FIRST_ROOM = 1024

/** Creates a table of records of `recordWords` words, whose keys are a number (one word) and `keyWords` words. The hash
 *  table is at most half full. An entry is the number of a record, from 1 on, and the hash; 0 is free. The hash is
 *  keyed at random, so untrusted clients cannot choose collisions. */
export function createRecordTable(keyWords: number, recordWords: number): RecordTable {
  let room = FIRST_ROOM
  let entries = new Int32Array(4 * room)
  const seeds = new Int32Array(randomBytes((keyWords + 2) * 4).buffer.slice(0)).subarray(0, keyWords + 2)
  const wanted = new Int32Array(keyWords)
  const words = new Int32Array(room * recordWords)
  const table = { words, bytes: new Uint8Array(words.buffer), count: 0, find }

  function grow(): void {
    room *= 2
    const larger = new Int32Array(room * recordWords)
    larger.set(table.words)
    table.words = larger
    table.bytes = new Uint8Array(larger.buffer)
    const before = entries
    entries = new Int32Array(4 * room)
    for (let from = 0; from < before.length; from += 2) {
      if (before[from] === 0) continue
      let at = placeOf(before[from + 1], entries.length)
      while (entries[at] !== 0) at = (at + 2) & (entries.length - 1)
      entries[at] = before[from]
      entries[at + 1] = before[from + 1]
    }
  }
  function hasKey(record: number, prefix: number): boolean {
    const { words } = table
    const at = record * recordWords
    if (words[at] !== prefix) return false
    for (let i = 0; i < keyWords; i++) if (words[at + 1 + i] !== wanted[i]) return false
    return true
  }
  function find(prefix: number, key: Uint8Array): number {
    let hash = mix(seeds[keyWords], prefix, seeds[keyWords + 1])
    for (let i = 0, at = 0; i < keyWords; i++, at += 4) {
      const word = key[at] | (key[at + 1] << 8) | (key[at + 2] << 16) | (key[at + 3] << 24)
      wanted[i] = word
      hash = mix(hash, word, seeds[i])
    }
    let at = placeOf(hash, entries.length)
    for (; entries[at] !== 0; at = (at + 2) & (entries.length - 1)) {
      if (entries[at + 1] === hash && hasKey(entries[at] - 1, prefix)) return entries[at] - 1
    }
    if (table.count === room) {
      grow()
      return find(prefix, key)
    }
    const record = table.count++
    entries[at] = record + 1
    entries[at + 1] = hash
    table.words[record * recordWords] = prefix
    table.words.set(wanted, record * recordWords + 1)
    return record
  }
  return table
}

function mix(hash: number, word: number, seed: number): number {
  const mixed = Math.imul(hash ^ word, seed | 1)
  return mixed ^ (mixed >>> 15)
}

/** Where a search begins in entries of two numbers each. */
function placeOf(hash: number, length: number): number {
  return (Math.imul(hash, 0x9e3779b1) >>> 5) & (length - 2)
}
