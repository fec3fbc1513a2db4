import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createReadBudget } from '../../../src/server/admission/readBudget.js'

const CHUNK = 65_536

/** Sources that always have a chunk, read in every turn unless they are paused. */
function createSources(turnBytes: number, count: number) {
  const budget = createReadBudget(turnBytes)
  return Array.from({ length: count }, () => {
    const source = { paused: false, chunks: 0 }
    const turns = budget.open({
      pause() {
        source.paused = true
      },
      resume() {
        source.paused = false
      },
    })
    const read = () => {
      if (source.paused) return
      source.chunks++
      turns.count(CHUNK)
    }
    return { source, turns, read }
  })
}

test('many sources together are read up to the budget in a turn, each in its turn', async () => {
  const sources = createSources(1_000_000, 100)
  for (const { read } of sources) read() // each of a first turn has come before anything can be said
  let before = 100
  for (let turn = 0; turn < 200; turn++) {
    await nextTurn()
    for (const { read } of sources) read()
    const now = sources.reduce((sum, { source }) => sum + source.chunks, 0)
    // Beside those that were resumed, those that the last turn had not paused.
    assert.ok((now - before) * CHUNK <= 1_500_000, `${now - before} chunks in turn ${turn}`)
    before = now
  }
  const chunks = sources.map(({ source }) => source.chunks)
  assert.ok(Math.min(...chunks) > 1 && Math.max(...chunks) - Math.min(...chunks) <= 20, `${chunks}`)
})

test('sources that bring little are resumed by the dozen', async () => {
  const budget = createReadBudget(262_144)
  let resumed = 0
  for (let i = 0; i < 1000; i++) budget.open({ pause() {}, resume: () => void resumed++ }).count(1)
  let turns = 0
  for (let before = -1; before < resumed; turns++) {
    before = resumed
    await nextTurn()
  }
  assert.ok(resumed > 400 && turns < 30, `${resumed} in ${turns} turns`)
})

test('a source that was closed is not resumed', async () => {
  const [first, second] = createSources(CHUNK, 2)
  for (const { read } of [first, second]) read()
  assert.deepEqual([first.turns.isWaiting(), second.turns.isWaiting()], [true, true])
  first.turns.close()
  while (second.source.paused) await nextTurn()
  assert.deepEqual([first.source.paused, first.turns.isWaiting(), second.turns.isWaiting()], [true, false, false])
})

test('what is thrown away is read to its end, under the budget', async () => {
  const budget = createReadBudget(2 * CHUNK)
  let mostInTurn = 0
  let inTurn = 0
  const stream = Readable.from(
    Array.from({ length: 50 }, () => Buffer.alloc(CHUNK)),
    { objectMode: false },
  )
  stream.on('data', () => {
    mostInTurn = Math.max(mostInTurn, ++inTurn)
    setImmediate(() => {
      inTurn = 0
    })
  })
  budget.discard(stream)
  await new Promise((resolve) => stream.once('close', resolve))
  assert.ok(mostInTurn <= 2, `${mostInTurn} chunks in a turn`)
})
