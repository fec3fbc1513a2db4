import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatQuantity } from '../../../src/lib/hex.js'
import { randomId } from '../../../src/rpc/subscriptions/randomId.js'

test('ids of filters and subscriptions differ, have one length, and stay the same as numbers', () => {
  const ids = Array.from({ length: 1_000 }, randomId)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) {
    assert.match(id, /^0x[0-9a-f]{32}$/)
    assert.equal(formatQuantity(BigInt(id)), id)
  }
})
