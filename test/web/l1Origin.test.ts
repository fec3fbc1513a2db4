import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from '../../src/web/client/types.js'
import { l1OriginOf } from '../../src/web/l1Origin.js'
import { readOpChain } from '../support/chains/op/opChain.js'

type First = { sourceHash: Hex; input: Hex }

test('the layer-1 block of every block of the OP stack is that of its first deposit', () => {
  // tools/opChain/main.go counts them from 9000 on.
  for (const [number, { block }] of readOpChain().blocks.entries()) {
    const expected = number === 0 ? undefined : 9000 + number - 1
    assert.equal(l1OriginOf(block.transactions as unknown as First[]), expected, `block ${number}`)
  }
})

test('other first transactions have none', () => {
  const input = `0x440a5e20${'00'.repeat(32)}` as const
  assert.equal(l1OriginOf([{ input }]), undefined)
  assert.equal(l1OriginOf([{ sourceHash: '0x1', input }]), 0)
  assert.equal(l1OriginOf([{ sourceHash: '0x1', input: '0x440a5e2000' }]), undefined)
  assert.equal(l1OriginOf([{ sourceHash: '0x1', input: '0x' }]), undefined)
})
