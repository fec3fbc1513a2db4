import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createByteIds } from '../../src/lib/byteIds.js'
import { seededRandom } from '../support/random.js'

test('ids of bytes are those of a map that is emptied when it is full', () => {
  const random = seededRandom(7)
  for (const [length, capacity] of [
    [20, 500],
    [32, 500],
    [32, 100],
    [20, 5_000],
  ]) {
    const ids = createByteIds(length, capacity)
    const oracle = new Map<string, number>()
    for (let i = 0; i < 20_000; i++) {
      // More values than it holds, so that some are known, some were forgotten, and many differ in their last byte
      // only.
      const value = Buffer.alloc(length, 1)
      value.writeUInt16BE(random.below(Math.ceil(capacity * 1.4)), length - 2)
      const known = ids.get(value)
      assert.equal(known, oracle.get(value.toString('hex')))
      if (known !== undefined) continue
      if (oracle.size === capacity) oracle.clear()
      const id = 2 ** 32 - 1 - i
      ids.add(value, id)
      oracle.set(value.toString('hex'), id)
    }
  }
})

test('bytes of another length are refused', () => {
  const ids = createByteIds(20, 10)
  assert.throws(() => ids.get(new Uint8Array(32)), /32 bytes where 20 are wanted/)
  assert.throws(() => ids.add(new Uint8Array(19), 1), /19 bytes where 20 are wanted/)
})
