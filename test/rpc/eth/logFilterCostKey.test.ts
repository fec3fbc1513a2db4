import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logFilterCostKey } from '../../../src/rpc/eth/logFilterCostKey.js'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

test('filters of the same values on ranges of about the same length share a key', () => {
  const key = (fromBlock: string, toBlock: string, last = 9) =>
    logFilterCostKey({ fromBlock, toBlock, address: [address(1), address(last)], topics: [null, [address(3)]] })
  assert.equal(key('0x10', '0x1000'), key('0x11', '0x1002'))
  assert.notEqual(key('0x10', '0x1000'), key('0x10', '0x10000'))
  assert.notEqual(key('0x10', '0x1000'), key('0x10', '0x1000', 10))
  assert.notEqual(key('0x10', 'latest'), key('0x10', 'finalized'))
})

test('a key is short for lists of any length, and anything that JSON can hold has one', () => {
  const long = Array.from({ length: 100_000 }, (_, i) => address(i))
  const odd = [undefined, null, 5, 'text', [], { address: { toString: 5 }, topics: 'x', fromBlock: {}, toBlock: [] }]
  const wide = { address: long, topics: [long, long, long, long, long], fromBlock: 'x'.repeat(100_000), toBlock: '0x1' }
  for (const object of [...odd, wide, { blockHash: 'x'.repeat(100_000), address: 'y'.repeat(100_000) }])
    assert.ok(logFilterCostKey(object).length < 1_000)
})
