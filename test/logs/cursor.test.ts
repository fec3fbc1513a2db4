import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyCursor, createUnionCursor, type IdCursor, intersect, type ReadIds } from '../../src/logs/cursor.js'
import { seededRandom } from '../support/random.js'

/** A cursor over ids in memory that counts its reads and refuses unbounded ones. */
function cursorOver(ids: number[], counts = { reads: 0 }): IdCursor {
  const read: ReadIds = (from, limit) => {
    counts.reads++
    assert.ok(limit <= 2048)
    const start = ids.findIndex((id) => id >= from)
    return start < 0 ? [] : ids.slice(start, start + limit)
  }
  return createKeyCursor(read, 0, 64)
}

function collect(cursor: IdCursor): number[] {
  const out: number[] = []
  for (; cursor.head < Number.POSITIVE_INFINITY; cursor.seek(cursor.head + 1)) out.push(cursor.head)
  return out
}

const range = (count: number, step: number, first = 0) => Array.from({ length: count }, (_, i) => first + i * step)

test('gives all ids of a key through growing batches', () => {
  const counts = { reads: 0 }
  assert.deepEqual(collect(cursorOver(range(10_000, 3), counts)), range(10_000, 3))
  assert.ok(counts.reads < 12, `${counts.reads} reads`)
  assert.deepEqual(collect(cursorOver([])), [])
})

test('leaps to ids within and beyond a batch, and never backwards', () => {
  const cursor = cursorOver(range(5_000, 2))
  for (const [id, head] of [
    [0, 0],
    [5, 6],
    [3, 6],
    [101, 102],
    [9_001, 9_002],
    [9_998, 9_998],
    [9_999, Number.POSITIVE_INFINITY],
  ]) {
    cursor.seek(id)
    assert.equal(cursor.head, head)
  }
})

test('meets random cursors as sets do', () => {
  const random = seededRandom(3)
  const randomIds = (limit: number) => {
    const every = 1 + random.below(limit)
    return range(random.below(3_000), 1).filter(() => random.below(every) === 0)
  }
  for (let i = 0; i < 200; i++) {
    // Keys of one clause share no ids: those of a union are dealt out.
    const united = randomIds(3)
    const parts: number[][] = Array.from({ length: 1 + random.below(6) }, () => [])
    for (const id of united) parts[random.below(parts.length)].push(id)
    const others = Array.from({ length: random.below(3) }, () => randomIds(6))
    const union = createUnionCursor(parts.map((ids) => cursorOver(ids)))
    const batchSize = 1 + random.below(50)
    const batches = [
      ...intersect(
        union,
        others.map((ids) => cursorOver(ids)),
        batchSize,
      ),
    ]
    assert.ok(batches.every((batch, at) => batch.length === batchSize || at === batches.length - 1))
    const sets = others.map((ids) => new Set(ids))
    assert.deepEqual(
      batches.flat(),
      united.filter((id) => sets.every((set) => set.has(id))),
    )
  }
})

test('leaps over a popular key instead of reading it through', () => {
  const counts = { reads: 0 }
  const rare = [10, 500_000, 999_990]
  assert.deepEqual([...intersect(cursorOver(rare), [cursorOver(range(100_000, 10), counts)], 10)], [rare])
  assert.ok(counts.reads <= 4, `${counts.reads} reads`)
})
