import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClausePostings, intersectClauses } from '../../src/logs/clausePostings.js'
import { CHUNK_SIZE, decodeBigPostings, encodeBigPostings, encodeChunk, isBitmap } from '../../src/segments/postings.js'
import { type SeededRandom, seededRandom } from '../support/random.js'

const CHUNKS = 3

/** A key's positions in a segment of CHUNKS chunks: in each chunk none, some, or so many that they become a bitmap. */
function randomKey(random: SeededRandom): number[][] {
  return Array.from({ length: CHUNKS }, () => {
    const oneIn = [0, 2_000, 60, 7, 3, 2][random.below(6)]
    if (oneIn === 0) return []
    return Array.from({ length: CHUNK_SIZE }, (_, i) => i).filter(() => random.below(oneIn) === 0)
  })
}

/** The clause of the keys, as it is read from a database: its postings are views that begin at any byte. */
function readClause(keys: readonly number[][][], bitmaps: { seen: number }): ClausePostings {
  const clause: ClausePostings = { small: new Uint32Array(0), big: new Map(), total: 0 }
  const small: number[] = []
  for (const chunks of keys) {
    const positions = chunks.flatMap((own, chunk) => own.map((position) => chunk * CHUNK_SIZE + position))
    clause.total += positions.length
    if (positions.length < 100) {
      small.push(...positions)
      continue
    }
    const held = chunks
      .map((own, chunk) => encodeChunk(chunk, own, 0, own.length))
      .filter((_, i) => chunks[i].length > 0)
    const blob = encodeBigPostings(held)
    const shifted = Buffer.alloc(blob.length + 1)
    shifted.set(blob, 1)
    for (const postings of decodeBigPostings(shifted.subarray(1))) {
      if (isBitmap(postings)) bitmaps.seen++
      clause.big.set(postings.chunk, [...(clause.big.get(postings.chunk) ?? []), postings])
    }
  }
  clause.small = Uint32Array.from(small).sort()
  return clause
}

test('what is in all clauses is found, in bitmaps, gaps and single postings', () => {
  const random = seededRandom(21)
  const bitmaps = { seen: 0 }
  let results = 0
  for (let i = 0; i < 60; i++) {
    const clauses = Array.from({ length: 1 + random.below(3) }, () =>
      Array.from({ length: 1 + random.below(3) }, () => randomKey(random)),
    )
    const from = random.below(2) === 0 ? 0 : random.below(CHUNKS * CHUNK_SIZE)
    const to = random.below(2) === 0 ? CHUNKS * CHUNK_SIZE : from + random.below(CHUNKS * CHUNK_SIZE - from) + 1
    const sets = clauses.map(
      (keys) =>
        new Set(keys.flatMap((chunks) => chunks.flatMap((own, chunk) => own.map((at) => chunk * CHUNK_SIZE + at)))),
    )
    const expected: number[] = []
    for (let at = from; at < to; at++) if (sets.every((set) => set.has(at))) expected.push(at)
    const found = intersectClauses(
      clauses.map((keys) => readClause(keys, bitmaps)),
      { from, to },
      (chunk) => chunk * CHUNK_SIZE,
    )
    assert.deepEqual(found, expected, `case ${i}`)
    results += found.length
  }
  assert.ok(results > 100_000 && bitmaps.seen > 100, `${results} results, ${bitmaps.seen} bitmaps`)
})
