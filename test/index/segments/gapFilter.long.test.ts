import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGapFilter, GAP_FILTER_KINDS } from '../../../src/index/segments/gapFilter.js'
import { CHUNK_SIZE, ChunkCursor, encodeBigPostings, encodeChunk } from '../../../src/index/segments/postings.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

/** Ascending positions in a chunk, about `count` of them. */
function positionsIn(random: SeededRandom, count: number): number[] {
  return Array.from(new Set(Array.from({ length: count }, () => random.below(CHUNK_SIZE)))).sort((a, b) => a - b)
}

for (const kind of GAP_FILTER_KINDS) {
  test(`${kind} finds of gaps those that are in the set, whatever bytes they take`, () => {
    const random = seededRandom(7)
    const { set, appendTo } = createGapFilter(kind)
    let found = 0
    for (let i = 0; i < 400; i++) {
      const positions = positionsIn(random, 1 + random.below(10 ** (1 + random.below(3))))
      const others = new Set(positionsIn(random, random.below(10 ** (1 + random.below(5)))))
      const part = random.below(4)
      for (const position of positions) if (random.below(4) < part) others.add(position)
      set.words.fill(0)
      for (const position of others) set.bytes[position >>> 3] |= 1 << (position & 7)
      const blob = encodeBigPostings([encodeChunk(5, positions, 0, positions.length)])
      const cursor = new ChunkCursor(Buffer.concat([Buffer.of(1), blob]).subarray(1))
      assert.ok(!cursor.isBitmap)
      const list = { values: new Uint32Array(positions.length + 1), count: 1 }
      appendTo(list, cursor)
      const shared = positions.filter((position) => others.has(position))
      assert.deepEqual(
        Array.from(list.values.subarray(1, list.count)),
        shared.map((position) => 5 * CHUNK_SIZE + position),
      )
      found += shared.length
    }
    assert.ok(found > 10_000, `${found}`)
  })

  test(`${kind} finds all of the most gaps that a chunk can have`, () => {
    const { set, appendTo } = createGapFilter(kind)
    const positions = Array.from({ length: 4_095 }, (_, i) => i * 16)
    const cursor = new ChunkCursor(encodeBigPostings([encodeChunk(0, positions, 0, positions.length)]))
    assert.ok(!cursor.isBitmap && cursor.end - cursor.start === 4_095)
    set.words.fill(-1)
    const list = { values: new Uint32Array(positions.length), count: 0 }
    appendTo(list, cursor)
    assert.deepEqual(Array.from(list.values), positions)
    assert.equal(list.count, positions.length)
  })
}
