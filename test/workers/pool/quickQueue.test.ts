import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noDeadline } from '../../../src/lib/deadline.js'
import {
  createQuickPolicy,
  KNOWN_QUICK_MS,
  NotQuick,
  QUICK_MS,
  quickDeadline,
  SECOND_TRY_MS,
} from '../../../src/workers/pool/quickQueue.js'

/** How many requests of the key are refused until one may be tried. */
function countRefused(policy: ReturnType<typeof createQuickPolicy>, key: string): number {
  let refused = 0
  while (policy.grant(key) === undefined) refused++
  return refused
}

test('a key has more time, and a second try, while most of it finish', () => {
  const policy = createQuickPolicy()
  assert.equal(policy.grant('a'), QUICK_MS)
  policy.note('a', true)
  assert.equal(policy.grant('a'), KNOWN_QUICK_MS)
  policy.note('a', false)
  assert.equal(policy.grantAgain('a'), SECOND_TRY_MS)
  assert.equal(policy.grant('a'), KNOWN_QUICK_MS)
  policy.note('a', true)
  for (let i = 0; i < 3; i++) policy.note('a', false)
  assert.equal(policy.grantAgain('a'), undefined)
  policy.note('b', false)
  assert.equal(policy.grantAgain('b'), undefined)
})

test('a key pauses twice as long after each abort but the first, 1,024 requests at most, until one finishes', () => {
  const policy = createQuickPolicy()
  const pauses = Array.from({ length: 11 }, () => {
    policy.note('a', false)
    return countRefused(policy, 'a')
  })
  assert.deepEqual(pauses, [0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024])
  assert.equal(policy.grant('b'), QUICK_MS)
  policy.note('a', true)
  assert.equal(countRefused(policy, 'a'), 0)
})

test('without leniency, a key pauses after its first abort', () => {
  const policy = createQuickPolicy<object>(0)
  const [client, other] = [{}, {}]
  policy.note(client, false)
  let refused = 0
  while (policy.grant(client) === undefined) refused++
  assert.equal(refused, 4)
  assert.equal(policy.grant(other), QUICK_MS)
})

test('keys that no client asks for again are evicted', () => {
  const policy = createQuickPolicy()
  policy.note('a', false)
  policy.note('a', false)
  for (let i = 0; i < 20_000; i++) policy.note(String(i), false)
  assert.equal(policy.grant('a'), QUICK_MS)
})

test('work that would end after the time of a try is not begun', () => {
  const deadline = quickDeadline(noDeadline, 60_000)
  deadline.check()
  deadline.checkAhead!(0)
  assert.throws(() => deadline.checkAhead!(60_001), NotQuick)
})
