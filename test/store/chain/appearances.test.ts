import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeAppearances, encodeAppearances, transactionsWith } from '../../../src/store/chain/appearances.js'
import { seededRandom } from '../../support/random.js'

const addressOf = (id: number) => new Uint8Array(20).fill(id)

test('what is encoded is decoded, and found by id', () => {
  const random = seededRandom(1)
  for (let round = 0; round < 200; round++) {
    const pool = Array.from({ length: 1 + random.below(300) }, () => random.below(2 ** (1 + random.below(30))))
    const transactions = Array.from({ length: random.below(40) }, () => {
      const own = new Set(Array.from({ length: 1 + random.below(12) }, () => pool[random.below(pool.length)]))
      return Array.from(own).sort((a, b) => a - b)
    })
    const bytes = encodeAppearances(transactions, addressOf)
    assert.deepEqual(decodeAppearances(bytes), transactions)
    for (const id of [...pool, 2 ** 30 + 1]) {
      const expected = transactions.flatMap((ids, index) => (ids.includes(id) ? [index] : []))
      assert.deepEqual(transactionsWith(bytes, id), expected)
    }
  }
})

test('a block without transactions takes no bytes, and cut bytes are refused', () => {
  assert.equal(encodeAppearances([], addressOf).length, 0)
  assert.deepEqual(decodeAppearances(new Uint8Array(0)), [])
  const bytes = encodeAppearances([[1, 2, 300], [300]], addressOf)
  assert.deepEqual(Array.from(bytes.subarray(0, -4)), [3, 1, 1, 0xaa, 0x02, 3, 0, 1, 1, 1, 2])
  assert.throws(() => decodeAppearances(bytes.subarray(0, 7)), RangeError)
})
