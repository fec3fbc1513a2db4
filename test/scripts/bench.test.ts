import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeBlocks } from '../../scripts/bench/blocks.js'
import { createLogChain } from '../../scripts/bench/logChain.js'
import { quantile } from '../../scripts/bench/measure.js'
import { openOrdinary, ordinaryRows } from '../../scripts/bench/ordinary.js'
import { makeShapes } from '../../scripts/bench/shapes.js'

function firstBlocks(seed: number, count: number) {
  const blocks = makeBlocks(createLogChain(seed), seed)
  return Array.from({ length: count }, () => blocks.next().value)
}

test('the synthetic chain is the same for the same seed and another for another', () => {
  const rows = (seed: number) => firstBlocks(seed, 3).flatMap(ordinaryRows)
  const wanted = rows(7)
  assert.deepEqual(rows(7), wanted)
  assert.notDeepEqual(rows(8), wanted)
})

test('a synthetic block has about 250 logs and stands on the one before', () => {
  const [first, second] = firstBlocks(7, 2)
  assert.ok(first.logs.length >= 250 && first.logs.length < 260)
  assert.deepEqual(second.block.header.parentHash, first.block.hash)
  assert.equal(first.block.transactions.length, first.receipts.length)
})

test('there are at least 27 shapes, each with a name of its own and questions that differ', () => {
  const chain = createLogChain(7)
  const shapes = makeShapes({ chain, seed: 7, head: 4_000, countTopic1: () => 0, blockCounts: () => [] })
  assert.ok(shapes.length >= 27)
  assert.equal(new Set(shapes.map(({ name }) => name)).size, shapes.length)
  for (const { name, question } of shapes) {
    const asked = Array.from({ length: 31 }, (_, n) => JSON.stringify(question(n)))
    assert.equal(new Set(asked).size, asked.length, name)
  }
})

test('no shape names more than the 5,000 values that a filter may hold', () => {
  const chain = createLogChain(7)
  for (const { name, question } of makeShapes({
    chain,
    seed: 7,
    head: 4_000,
    countTopic1: () => 0,
    blockCounts: () => [],
  })) {
    const { address, topics } = question(0)
    const count = [address, ...(topics ?? [])].reduce((sum, list) => sum + (list?.length ?? 0), 0)
    assert.ok(count <= 5_000, name)
  }
})

test('the range of exactly 10,000 results is found by the counts of blocks', () => {
  const counts = Array.from({ length: 4_000 }, (_, i) => ({ block: i * 2, count: i === 0 ? 1 : 3 }))
  const source = { chain: createLogChain(7), seed: 7, head: 8_000, countTopic1: () => 0, blockCounts: () => counts }
  const shape = makeShapes(source).find(({ name }) => name === 'exactly 10,000 results')!
  const { fromBlock, toBlock } = shape.question(0)
  const inRange = counts.filter(({ block }) => block >= fromBlock && block <= toBlock)
  assert.equal(
    inRange.reduce((sum, { count }) => sum + count, 0),
    10_000,
  )
})

test('the ordinary design finds by address, by list and by the presence of topics', () => {
  const ordinary = openOrdinary(':memory:')
  const blocks = firstBlocks(7, 4)
  ordinary.insert(blocks.flatMap(ordinaryRows))
  const all = { fromBlock: 1, toBlock: 2 }
  const inRange = blocks.slice(1, 3).flatMap(({ logs }) => logs)
  const [row] = ordinaryRows(blocks[1])
  const address = row[5] as string
  const sameAddress = blocks
    .slice(1, 3)
    .flatMap(ordinaryRows)
    .filter((other) => other[5] === address)
  assert.equal(ordinary.find(all).length, inRange.length)
  assert.equal(ordinary.find({ ...all, address: [address, `0x${'00'.repeat(20)}`] }).length, sameAddress.length)
  const withTwo = inRange.filter(({ topics }) => topics.length >= 2)
  assert.equal(ordinary.find({ ...all, topics: [null, null] }).length, withTwo.length)
  ordinary.close()
})

test('a quantile is the value of the nearest rank', () => {
  const values = [5, 1, 4, 2, 3]
  assert.deepEqual(
    [0.5, 0.99, 1].map((share) => quantile(values, share)),
    [3, 5, 5],
  )
})
