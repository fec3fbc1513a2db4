import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockRange } from '../../src/chain/eth/types.js'
import { planFiles } from '../../src/export/plan.js'
import { seededRandom } from '../support/random.js'

const terms = { rangeSize: 10, held: [], redo: [], wholeOnly: false }
const range = (from: number, to: number) => ({ from, to })
const file = (from: number, to: number, ...replaces: BlockRange[]) => ({ from, to, replaces })

test('files are aligned; only the first and the last may be partial', () => {
  assert.deepEqual(planFiles({ ...terms, wanted: range(3, 25) }), [file(3, 9), file(10, 19), file(20, 25)])
  assert.deepEqual(planFiles({ ...terms, wanted: range(3, 25), wholeOnly: true }), [file(3, 9), file(10, 19)])
  assert.deepEqual(planFiles(terms), [])
})

test('what is there stays, and a partial file is replaced by one that holds it', () => {
  const held = [range(0, 9), range(10, 14)]
  assert.deepEqual(planFiles({ ...terms, held, wanted: range(0, 14) }), [])
  assert.deepEqual(planFiles({ ...terms, held, wanted: range(2, 17) }), [file(10, 17, range(10, 14))])
  assert.deepEqual(planFiles({ ...terms, held: [range(4, 6)], wanted: range(5, 8) }), [file(4, 8, range(4, 6))])
})

test('dropped files are written again although they are not in the wanted range', () => {
  assert.deepEqual(planFiles({ ...terms, redo: [range(10, 14)], wanted: range(30, 31) }), [file(10, 14), file(30, 31)])
})

test('whatever is there, all wanted blocks are in exactly one file afterwards', () => {
  const random = seededRandom(3)
  for (let i = 0; i < 2_000; i++) {
    const held: BlockRange[] = []
    for (let at = 0; at < 40; ) {
      const from = at + random.below(6)
      const to = Math.min(from + random.below(12), Math.floor(from / 10) * 10 + 9)
      if (random.below(2) === 0) held.push({ from, to })
      at = to + 1
    }
    const from = random.below(45)
    const wanted = { from, to: from + random.below(30) }
    const planned = planFiles({ ...terms, held, wanted })
    const replaced = planned.flatMap(({ replaces }) => replaces)
    const after = [...held.filter((each) => !replaced.includes(each)), ...planned]
    const holding = (block: number) => after.filter((each) => each.from <= block && block <= each.to).length
    for (let block = 0; block < 80; block++) {
      const wasHeld = held.some((each) => each.from <= block && block <= each.to)
      const isWanted = wanted.from <= block && block <= wanted.to
      assert.equal(
        holding(block),
        wasHeld || isWanted ? 1 : holding(block) && 1,
        JSON.stringify({ held, wanted, block }),
      )
    }
    assert.ok(after.every((each) => Math.floor(each.from / 10) === Math.floor(each.to / 10)))
  }
})
