import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dispatcher } from '../../../src/rpc/core/dispatch.js'
import { parseBody } from '../../../src/rpc/core/envelope.js'
import { executeBody } from '../../../src/rpc/core/execute.js'
import { createTimeBudget } from '../../../src/rpc/core/timeBudget.js'

/** Returns a batch of `length` calls. */
const batchOf = (length: number) =>
  parseBody(JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'm' }))))

/** A dispatcher whose calls each take a quarter of a millisecond by a clock of its own. */
function clockwork(): Dispatcher & { done(): number } {
  let nowMs = 0
  let done = 0
  return {
    timeBudget: createTimeBudget(() => nowMs),
    done: () => done,
    dispatch() {
      nowMs += 0.25
      done++
      return { result: Buffer.from('1') }
    },
  }
}

test('all batches together take 1 ms of a turn of the event loop', async () => {
  const dispatcher = clockwork()
  const answers = Array.from({ length: 60 }, () => executeBody(batchOf(50), dispatcher))
  let most = 0
  let before = dispatcher.done()
  while (dispatcher.done() < 3000) {
    await new Promise(setImmediate)
    most = Math.max(most, dispatcher.done() - before)
    before = dispatcher.done()
  }
  for (const answer of await Promise.all(answers)) {
    assert.equal(JSON.parse(Buffer.concat(answer ?? []).toString()).length, 50)
  }
  assert.equal(most, 4)
})

test('a short batch waits for a share of each long one, not for their ends', async () => {
  const dispatcher = clockwork()
  const long = Array.from({ length: 10 }, () => executeBody(batchOf(500), dispatcher))
  await executeBody(batchOf(4), dispatcher)
  // Those before it had 1 ms each; some have begun their next.
  assert.ok(dispatcher.done() < 100, `${dispatcher.done()} calls were done`)
  await Promise.all(long)
  assert.equal(dispatcher.done(), 5004)
})

test('batches that wait for calls elsewhere let others continue', async () => {
  const timeBudget = createTimeBudget()
  const later: Dispatcher = {
    timeBudget,
    dispatch: () => new Promise((resolve) => setImmediate(() => resolve({ result: Buffer.from('1') }))),
  }
  const now: Dispatcher = { timeBudget, dispatch: () => ({ result: Buffer.from('1') }) }
  const answers = Array.from({ length: 20 }, (_, i) => executeBody(batchOf(40), i % 2 === 0 ? later : now))
  for (const answer of await Promise.all(answers)) {
    assert.equal(JSON.parse(Buffer.concat(answer ?? []).toString()).length, 40)
  }
})

test('one at a time works, however long each takes', async () => {
  let nowMs = 0
  const timeBudget = createTimeBudget(() => nowMs)
  let done = 0
  const work = Array.from({ length: 30 }, async () => {
    const timeShare = timeBudget.join()
    for (let i = 0; i < 4; i++) {
      await timeShare.wait()
      nowMs += 4
      done++
      // Those that wait for nothing else say so more than once.
      timeShare.leave()
      timeShare.leave()
    }
  })
  await new Promise(setImmediate)
  let most = 0
  for (let before = done; done < 120; before = done) {
    await new Promise(setImmediate)
    most = Math.max(most, done - before)
  }
  await Promise.all(work)
  assert.equal(most, 1)
})
