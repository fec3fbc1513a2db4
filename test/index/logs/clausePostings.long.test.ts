import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClausePostings, createClauseReader } from '../../../src/index/logs/clausePostings.js'
import { CHUNK_SIZE, encodeBigPostings, encodeChunk } from '../../../src/index/segments/postings.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { THOROUGH } from '../../support/thorough.js'

const CHUNKS = 3
const CASES = THOROUGH ? 100 : 30

/** Returns a key's positions in a segment of CHUNKS chunks: in each chunk none, some, or enough to become a bitmap; or
 *  one in all. */
function randomKey(random: SeededRandom): number[][] {
  if (random.below(8) === 0) {
    const chunk = random.below(CHUNKS)
    return Array.from({ length: CHUNKS }, (_, i) => (i === chunk ? [random.below(CHUNK_SIZE)] : []))
  }
  return Array.from({ length: CHUNKS }, () => {
    const oneIn = [0, 2_000, 60, 7, 3, 2][random.below(6)]
    if (oneIn === 0) return []
    return Array.from({ length: CHUNK_SIZE }, (_, i) => i).filter(() => random.below(oneIn) === 0)
  })
}

const positionsOf = (chunks: readonly number[][]): number[] =>
  chunks.flatMap((own, chunk) => own.map((position) => chunk * CHUNK_SIZE + position))

/** The clause of the keys, as it is read from a database: its postings are blobs that begin at any byte. */
function readClause(keys: readonly number[][][], seen: { bitmaps: number }): ClausePostings {
  const small: number[] = []
  const big: Uint8Array[] = []
  let total = 0
  for (const chunks of keys) {
    const positions = positionsOf(chunks)
    total += positions.length
    if (positions.length < 100) {
      small.push(...positions)
      continue
    }
    const held = chunks
      .map((own, chunk) => encodeChunk(chunk, own, 0, own.length))
      .filter((_, i) => chunks[i].length > 0)
    seen.bitmaps += held.filter(({ kind }) => kind === 1).length
    const blob = encodeBigPostings(held)
    const shifted = Buffer.alloc(blob.length + 1)
    shifted.set(blob, 1)
    big.push(shifted.subarray(1))
  }
  return { small: Uint32Array.from(small).sort(), big, total }
}

function randomRange(random: SeededRandom): { from: number; to: number } {
  const end = CHUNKS * CHUNK_SIZE
  const from = random.below(2) === 0 ? 0 : random.below(end)
  return { from, to: random.below(2) === 0 ? end : from + random.below(end - from) + 1 }
}

test('what is in one clause, or in two, is found, in bitmaps, gaps and single postings', () => {
  const random = seededRandom(21)
  const reader = createClauseReader()
  const seen = { bitmaps: 0 }
  let results = 0
  for (let i = 0; i < CASES; i++) {
    const clauses = [1, 2].map(() => Array.from({ length: 1 + random.below(3) }, () => randomKey(random)))
    const [left, right] = clauses.map((keys) => readClause(keys, seen))
    const [inLeft, inRight] = clauses.map((keys) => new Set(keys.flatMap(positionsOf)))
    const range = randomRange(random)
    const listed: number[] = []
    const shared: number[] = []
    for (let at = range.from; at < range.to; at++) {
      if (!inLeft.has(at)) continue
      listed.push(at)
      if (inRight.has(at)) shared.push(at)
    }
    assert.deepEqual(Array.from(reader.list(left, range)), listed, `case ${i}`)
    const both = reader.intersect([left, right], range)
    assert.deepEqual(Array.from(both), shared, `case ${i}`)
    assert.deepEqual(Array.from(reader.intersect([right, left], range)), shared, `case ${i}`)
    // As what is left over of two clauses is intersected with a third.
    const again = { small: both, big: [], total: both.length }
    assert.deepEqual(Array.from(reader.intersect([again, left], range)), shared, `case ${i}`)
    assert.deepEqual(Array.from(both), shared, 'the memory of a result is its own')
    results += shared.length
  }
  assert.ok(results > 1_000 * CASES && seen.bitmaps > CASES, `${results} results, ${seen.bitmaps} bitmaps`)
})
