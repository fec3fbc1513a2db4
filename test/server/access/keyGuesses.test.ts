import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuessLimiter } from '../../../src/server/access/keyGuesses.js'

test('a client that sends many wrong keys waits for the next window, others do not', () => {
  let now = 0
  const limiter = createGuessLimiter(() => now)
  for (let i = 0; i < 20; i++) assert.equal(limiter.charge('a'), undefined)
  now = 59_500
  assert.equal(limiter.charge('a'), 1)
  assert.equal(limiter.charge('b'), undefined)
  now = 60_000
  assert.equal(limiter.charge('a'), undefined)
})

test('as many clients are remembered as there is room for', () => {
  const limiter = createGuessLimiter(() => 0)
  for (let i = 0; i < 21; i++) limiter.charge('first')
  assert.equal(limiter.charge('first'), 60)
  for (let i = 0; i < 10_000; i++) limiter.charge(`client ${i}`)
  assert.equal(limiter.charge('first'), undefined)
})
