import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createRateLimiter } from '../../../src/server/access/rateLimit.js'

const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData.module).then(({ createRateLimiter }) => {
  const limiter = createRateLimiter(() => workerData.nowMs)
  limiter.adopt(7, workerData.memory)
  parentPort.postMessage('ready')
  parentPort.once('message', () => {
    let admitted = 0
    for (let i = 0; i < workerData.tries; i++) if (limiter.charge(7, 1, workerData.rps) === undefined) admitted++
    parentPort.postMessage(admitted)
  })
})`

test('threads that share a bucket admit together what one would', async () => {
  const [rps, nowMs] = [20_000, 5_000]
  const limiter = createRateLimiter(() => nowMs)
  assert.equal(limiter.share(7), undefined)
  assert.equal(limiter.charge(7, 1, rps), undefined)
  const memory = limiter.share(7)!
  const module = new URL('../../../src/server/access/rateLimit.js', import.meta.url).href
  const threads = Array.from({ length: 2 }, () => {
    return new Worker(THREAD, { eval: true, workerData: { module, memory, nowMs, rps, tries: rps } })
  })
  await Promise.all(threads.map((thread) => once(thread, 'message')))
  const counts = threads.map((thread) => once(thread, 'message'))
  for (const thread of threads) thread.postMessage('begin')
  const admitted = (await Promise.all(counts)).map(([count]) => count as number)
  assert.equal(admitted[0] + admitted[1], rps - 1)
  assert.notEqual(limiter.charge(7, 1, rps), undefined)
})

test('a bucket whose rate changes keeps its tokens', () => {
  const clock = { ms: 1000 }
  const limiter = createRateLimiter(() => clock.ms)
  assert.equal(limiter.charge(1, 15, 10), undefined) // 5 in debt
  assert.equal(limiter.charge(1, 1, 100)?.backoff_seconds, 0.06)
  clock.ms += 60
  assert.equal(limiter.charge(1, 1, 100), undefined)
  clock.ms += 1000
  let admitted = 0
  while (limiter.charge(1, 1, 4) === undefined) admitted++
  assert.equal(admitted, 4)
})
