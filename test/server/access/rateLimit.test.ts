import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter } from '../../../src/server/access/rateLimit.js'

function limiter(rps: number) {
  const clock = { ms: 0 }
  const limited = createRateLimiter(() => clock.ms)
  const charge = (calls = 1, key = 1) => limited.charge(key, calls, rps)
  return { clock, charge, debit: (calls = 1, key = 1) => limited.debit(key, calls) }
}

test('one second of calls may come at once, then as many as the rate', () => {
  const { clock, charge } = limiter(5)
  for (let i = 0; i < 5; i++) assert.equal(charge(), undefined)
  assert.deepEqual(charge(), { current_rps: 6, allowed_rps: 5, backoff_seconds: 0.2 })
  clock.ms += 200
  assert.equal(charge(), undefined)
  assert.notEqual(charge(), undefined)
  clock.ms += 60_000
  let allowed = 0
  while (charge() === undefined) allowed++
  assert.equal(allowed, 5)
})

test('waiting as long as was said is enough', () => {
  const { clock, charge } = limiter(3)
  for (let i = 0; i < 300; i++) {
    const refusal = charge()
    if (refusal === undefined) continue
    clock.ms += refusal.backoff_seconds * 1000
    assert.equal(charge(), undefined)
  }
})

test('over a long time no key gets more than its rate and one burst', () => {
  const { clock, charge } = limiter(10)
  let allowed = 0
  for (; clock.ms < 10_000; clock.ms += 7) if (charge() === undefined) allowed++
  assert.ok(allowed >= 105 && allowed <= 110, `${allowed}`)
})

test('a batch larger than the rate is let through when nothing is owed, and paid for', () => {
  const { clock, charge } = limiter(10)
  assert.equal(charge(50), undefined)
  assert.equal(charge()?.backoff_seconds, 4.1)
  clock.ms += 4100
  assert.equal(charge(), undefined)
})

test('keys are counted apart', () => {
  const { charge } = limiter(1)
  assert.equal(charge(1, 1), undefined)
  assert.equal(charge(1, 2), undefined)
  assert.notEqual(charge(1, 1), undefined)
})

test('work of a call that is under way counts as calls, and delays the next ones by ten seconds at most', () => {
  const { clock, charge, debit } = limiter(5)
  debit(3) // a key without a limit is never charged
  assert.equal(charge(), undefined)
  debit(3)
  assert.equal(charge(), undefined)
  assert.equal(charge()?.backoff_seconds, 0.2)
  debit(1_000)
  assert.equal(charge()?.backoff_seconds, 10.2)
  clock.ms += 10_200
  assert.equal(charge(), undefined)
})

test('what work debits is owed from then on, however long the work took', () => {
  const { clock, charge, debit } = limiter(2)
  assert.equal(charge(), undefined)
  for (let second = 0; second < 10; second++) {
    clock.ms += 1_000
    debit(50)
  }
  assert.equal(charge()?.backoff_seconds, 10.5)
  clock.ms += 10_500
  assert.equal(charge(), undefined)
})
