import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createByteBudget } from '../../../src/server/admission/byteBudget.js'

test('holders together have no more than the budget, and may always have less', () => {
  const budget = createByteBudget(100)
  const [a, b] = [budget.open(), budget.open()]
  assert.ok(a.resize(60))
  assert.ok(!b.resize(41))
  assert.ok(b.resize(40))
  assert.ok(!a.resize(61))
  assert.equal(budget.usedBytes(), 100)
  assert.ok(a.resize(10))
  assert.ok(b.resize(90))
  a.release()
  a.release()
  b.release()
  assert.equal(budget.usedBytes(), 0)
})
