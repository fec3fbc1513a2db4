import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTimeBudget } from '../../../src/rpc/core/timeBudget.js'
import { createRequestQueue } from '../../../src/server/admission/requestQueue.js'

/** Turns whose work takes a quarter of a millisecond by a clock of its own. */
function clockwork() {
  let nowMs = 0
  const done: string[] = []
  const turns = createRequestQueue(createTimeBudget(() => nowMs))
  const run = (client: string, name: string) =>
    turns.run(client, {
      begin() {
        nowMs += 0.25
        done.push(name)
      },
    })
  return { run, done }
}

test('many requests of one client do not hold up those of another', async () => {
  const { run, done } = clockwork()
  const wanted = Array.from({ length: 1000 }, (_, i) => `a${i}`)
  const ranAtOnce = wanted.map((name) => run('a', name))
  assert.equal(ranAtOnce.filter(Boolean).length, 64)
  assert.equal(run('b', 'b0'), true)
  assert.equal(done.length, 65)
  while (done.length < 500) await new Promise(setImmediate)
  assert.equal(run('b', 'b1'), true)
  while (done.length < 1002) await new Promise(setImmediate)
  assert.deepEqual(
    done.filter((name) => name.startsWith('a')),
    wanted,
  )
})

test('clients with waiting requests take turns', async () => {
  const { run, done } = clockwork()
  for (let i = 0; i < 200; i++) run('a', 'a')
  for (let i = 0; i < 80; i++) run('b', 'b')
  while (done.length < 280) await new Promise(setImmediate)
  assert.ok(done.lastIndexOf('b') < 200, `${done.lastIndexOf('b')}`)
})
