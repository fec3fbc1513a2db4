import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSemaphore } from '../../src/lib/semaphore.js'

test('runs up to the limit of tasks at a time, in the order of the requests, including those that fail', async () => {
  const slots = createSemaphore(3)
  const begun: number[] = []
  let running = 0
  let most = 0
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      slots.run(async () => {
        begun.push(i)
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => setImmediate(resolve))
        running--
        if (i % 4 === 0) throw new Error(`task ${i}`)
        return i
      }),
    ),
  )
  assert.equal(most, 3)
  assert.deepEqual(begun, [...begun.keys()])
  for (const [i, outcome] of outcomes.entries()) {
    if (i % 4 === 0) assert.equal(outcome.status, 'rejected')
    else assert.deepEqual(outcome, { status: 'fulfilled', value: i })
  }
  assert.equal(await slots.run(async () => 'after'), 'after')
})
