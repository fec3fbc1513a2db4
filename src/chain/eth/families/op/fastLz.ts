const MAX_DISTANCE = 0x1fff
const TABLE_SIZE = 8192
const HASH_FACTOR = 2_654_435_769
const MAX_LITERALS = 32
const MAX_MATCH = 262

/** The last position of each hash of three bytes: cleared by each call, since allocating it costs more. */
const positions = new Uint32Array(TABLE_SIZE)

/** The length of `data` after compression by FastLZ, level 1, as Fjord estimates the size of a transaction
 *  (specs/protocol/fjord/exec-engine.md, after LibZip of solady). */
export function fastLzLength(data: Uint8Array): number {
  positions.fill(0)
  const limit = data.length < 13 ? 0 : data.length - 13
  let length = 0
  let literalStart = 0
  let at = 2
  while (at < limit) {
    const match = findMatch(data, at, limit)
    if (match === undefined) break
    at = match.at
    if (at > literalStart) length += literalsLength(at - literalStart)
    const matched = matchLength(data, match.from + 3, at + 3, limit + 9)
    length += 3 * Math.floor((matched - 1) / MAX_MATCH) + ((matched - 1) % MAX_MATCH >= 6 ? 3 : 2)
    at += matched
    positions[hashOf(wordAt(data, at))] = at
    positions[hashOf(wordAt(data, at + 1))] = at + 1
    at += 2
    literalStart = at
  }
  return length + literalsLength(data.length - literalStart)
}

/** Returns the first position from `start` on whose three bytes occurred before, and the earlier one. */
function findMatch(data: Uint8Array, start: number, limit: number): { at: number; from: number } | undefined {
  // The reference discards a match at the last position.
  for (let at = start; at < limit - 1; at++) {
    const word = wordAt(data, at)
    const hash = hashOf(word)
    const from = positions[hash]
    positions[hash] = at
    if (at - from <= MAX_DISTANCE && word === wordAt(data, from)) return { at, from }
  }
  return undefined
}

function wordAt(data: Uint8Array, at: number): number {
  return data[at] | (data[at + 1] << 8) | (data[at + 2] << 16)
}

function hashOf(word: number): number {
  return (Math.imul(HASH_FACTOR, word) >>> 19) & MAX_DISTANCE
}

/** Number of steps until two runs differ, counted as the reference does: the differing byte is one. */
function matchLength(data: Uint8Array, first: number, second: number, end: number): number {
  let length = 0
  for (let most = end - second; length < most; length++) {
    if (data[first + length] !== data[second + length]) return length + 1
  }
  return length
}

function literalsLength(count: number): number {
  const rest = count % MAX_LITERALS
  return (MAX_LITERALS + 1) * Math.floor(count / MAX_LITERALS) + (rest === 0 ? 0 : rest + 1)
}
