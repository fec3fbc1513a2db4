import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recognise } from '../../src/web/search.js'

test('a text names a block, an address, a hash, or the beginning of one', () => {
  const address = `0x${'5f'.repeat(20)}`
  const hash = `0x${'5f'.repeat(32)}`
  assert.deepEqual(recognise('1,234'), { kind: 'block', block: '1234' })
  assert.deepEqual(recognise('0x1f'), { kind: 'block', block: '31' })
  assert.deepEqual(recognise(address), { kind: 'address', address })
  assert.deepEqual(recognise(hash.slice(2)), { kind: 'hash', hash })
  assert.deepEqual(recognise('0x5FBDB'), { kind: 'prefix', prefix: '0x5fbdb', block: '392155' })
  assert.deepEqual(recognise(address.slice(0, 30)), { kind: 'prefix', prefix: address.slice(0, 30), block: undefined })
  for (const text of ['', 'latest?', '0x', '__proto__', '0xxyz'])
    assert.deepEqual(recognise(text), { kind: 'nothing' }, text)
})
