import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStallDetector } from '../../../src/server/admission/stallDetector.js'

const RULE = { stallMs: 1000, leastBytes: 100 }

test('what grows fast enough is not stalled, what stops is', () => {
  const progress = createStallDetector(RULE, 0)
  assert.ok(!progress.isStalled(0, 1000))
  assert.ok(!progress.isStalled(100, 1000))
  assert.ok(!progress.isStalled(199, 2000))
  assert.ok(progress.isStalled(199, 2001))
})

test('little by little is too little', () => {
  const progress = createStallDetector(RULE, 0)
  const stalls = Array.from({ length: 20 }, (_, i) => progress.isStalled(i, i * 100))
  assert.equal(stalls.indexOf(true), 11)
})

test('fewer bytes than before are a new begin', () => {
  const progress = createStallDetector(RULE, 0)
  assert.ok(!progress.isStalled(5000, 900))
  assert.ok(!progress.isStalled(10, 1800))
  assert.ok(!progress.isStalled(10, 2800))
  assert.ok(progress.isStalled(10, 2801))
})
