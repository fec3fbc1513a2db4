import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPTIONS as EVM_OPTIONS, type EvmRun, pickNames } from '../../bench/evm/options.js'
import { quantile } from '../../bench/lib/client.js'
import { parseOptions } from '../../bench/lib/options.js'
import { OPTIONS } from '../../bench/logs/options.js'
import { openOrdinary, ordinaryRows } from '../../bench/logs/ordinary.js'
import { findExactRange } from '../../bench/logs/parameters.js'
import { makeShapes } from '../../bench/logs/shapes.js'
import { makeBlocks } from '../support/chains/logBlocks.js'
import { createLogChain } from '../support/chains/logChain.js'

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

function shapesOf(seed: number) {
  const exact = { address: '0x00', fromBlock: 0, toBlock: 4_000 }
  return makeShapes({ chain: createLogChain(seed), seed, head: 4_000, scatteredRank: 3, exact })
}

test('there are at least 27 shapes, each with a name of its own and questions that differ', () => {
  const shapes = shapesOf(7)
  assert.ok(shapes.length >= 27)
  assert.equal(new Set(shapes.map(({ name }) => name)).size, shapes.length)
  for (const { name, question } of shapes) {
    const asked = Array.from({ length: 31 }, (_, n) => JSON.stringify(question(n)))
    assert.equal(new Set(asked).size, asked.length, name)
  }
})

test('no shape names more than the 5,000 values that a filter may hold', () => {
  for (const { name, question } of shapesOf(7)) {
    const { address, topics } = question(0)
    const count = [address, ...(topics ?? [])].reduce((sum, list) => sum + (list?.length ?? 0), 0)
    assert.ok(count <= 5_000, name)
  }
})

test('the range of exactly 10,000 results is found by the counts of blocks', () => {
  const counts = Array.from({ length: 4_000 }, (_, i) => ({ block: i * 2, count: i === 0 ? 1 : 3 }))
  const asked: number[] = []
  const range = findExactRange((rank) => {
    asked.push(rank)
    return rank === 1 ? [{ block: 4, count: 10_001 }] : counts
  })!
  const inRange = counts.filter(({ block }) => block >= range.fromBlock && block <= range.toBlock)
  assert.equal(
    inRange.reduce((sum, { count }) => sum + count, 0),
    10_000,
  )
  assert.deepEqual([range.rank, asked], [2, [1, 2]])
})

test('there is no range of exactly 10,000 results on a chain that is too short', () => {
  assert.equal(
    findExactRange(() => [{ block: 1, count: 9_999 }]),
    undefined,
  )
})

test('the ordinary design finds by address, by list and by the presence of topics', () => {
  const ordinary = openOrdinary(':memory:')
  const blocks = firstBlocks(7, 4)
  void ordinary.stage(blocks)()
  const all = { fromBlock: 1, toBlock: 2 }
  const inRange = blocks.slice(1, 3).flatMap(({ logs }) => logs)
  const [row] = ordinaryRows(blocks[1])
  const address = row[5] as string
  const sameAddress = blocks
    .slice(1, 3)
    .flatMap(ordinaryRows)
    .filter((other) => other[5] === address)
  assert.equal(ordinary.find(all), inRange.length)
  assert.equal(ordinary.find({ ...all, address: [address, `0x${'00'.repeat(20)}`] }), sameAddress.length)
  const withTwo = inRange.filter(({ topics }) => topics.length >= 2)
  assert.equal(ordinary.find({ ...all, topics: [null, null] }), withTwo.length)
  void ordinary.close()
})

test('a quantile is the value of the nearest rank', () => {
  const values = [5, 1, 4, 2, 3]
  assert.deepEqual(
    [0.5, 0.99, 1].map((share) => quantile(values, share)),
    [3, 5, 5],
  )
})

test('a bench says what is wrong with its options', () => {
  const cases: [string[], RegExp][] = [
    [['--logs', 'many'], /^--logs: expected a number from 1, got many$/],
    [['--tips', '-1'], /^--tips: expected a number from 0, got -1$/],
    [['--peers', 'duckdb,oracle'], /^--peers: expected some of duckdb, postgres, got oracle$/],
  ]
  for (const [args, message] of cases) {
    const joined = [`${args[0]}=${args[1]}`] // a value may begin with a dash
    assert.throws(() => parseOptions(joined, OPTIONS), { message })
  }
  assert.throws(() => parseOptions(['--only', 'nothing'], EVM_OPTIONS), {
    message: "--only: nothing is named 'nothing'",
  })
})

test('a bench takes peers in an order of its own, and defaults for the rest', () => {
  const { peers, logs, reuse, datadir } = parseOptions('--peers postgres,duckdb'.split(' '), OPTIONS)
  assert.deepEqual([peers, logs, reuse, datadir], [['duckdb', 'postgres'], 2_000_000, false, undefined])
  const names = (only: string) => pickNames('calls', parseOptions(['--only', only], EVM_OPTIONS) as EvmRun['values'])
  assert.deepEqual(names('pair; erc20'), ['erc20 balanceOf', 'pair swap'])
})
