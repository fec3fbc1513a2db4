import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepFresh } from '../../../src/index/transactions/keepFresh.js'
import { silentLogger } from '../../../src/lib/logger.js'

/** Runs until `refresh` was called `count` times; `answer` says what each call does. */
function callsOf(count: number, answer: (call: number) => boolean): Promise<{ failures: number }> {
  return new Promise((resolve) => {
    let calls = 0
    let failures = 0
    const log = { ...silentLogger, error: () => void failures++ }
    const stop = keepFresh(
      {
        refresh: () => {
          calls++
          if (calls === count) {
            stop()
            setImmediate(() => resolve({ failures }))
          }
          return answer(calls)
        },
      },
      log,
    )
    // Its timers do not keep the process alive.
    const alive = setInterval(() => calls >= count && clearInterval(alive), 20)
  })
}

test('continues with the next slice at once, and looks again after a pause', async () => {
  const started = performance.now()
  await callsOf(50, () => false)
  assert.ok(performance.now() - started < 10_000, 'slices follow on each other: 50 pauses would be 25 s')
  await callsOf(2, () => true)
  assert.ok(performance.now() - started > 450, 'there is a pause when all is taken')
})

test('a failure that persists is logged once, and the refresh is retried', async () => {
  const { failures } = await callsOf(3, (call) => {
    if (call < 3) throw new Error('the disk is full')
    return true
  })
  assert.equal(failures, 1)
})
