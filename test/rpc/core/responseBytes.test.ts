import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeBatch, encodeResponse } from '../../../src/rpc/core/responseBytes.js'

test('a response holds the bytes of the result as they are', () => {
  const text = Buffer.concat(encodeResponse('1.50', { result: Buffer.from('{"a": 1}') })).toString()
  assert.equal(text, '{"jsonrpc":"2.0","id":1.50,"result":{"a": 1}}')
  const error = Buffer.concat(
    encodeResponse('null', { error: { code: -32600, message: 'invalid "request"' } }),
  ).toString()
  assert.equal(error, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid \\"request\\""}}')
  const dataJson = Buffer.from('"0x1234"')
  const parts = encodeResponse('7', { error: { code: 3, message: 'execution reverted', dataJson } })
  assert.ok(parts.includes(dataJson))
  assert.equal(
    Buffer.concat(parts).toString(),
    '{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"execution reverted","data":"0x1234"}}',
  )
  assert.equal(
    Buffer.concat(encodeBatch([[Buffer.from('1')], [Buffer.from('2'), Buffer.from('3')]])).toString(),
    '[1,23]',
  )
})

test('small parts of a batch are joined, and large ones are sent as they are', () => {
  const large = Buffer.alloc(100_000, '1')
  const responses = Array.from({ length: 1000 }, (_, i) =>
    encodeResponse(String(i), { result: i === 500 ? large : Buffer.from('"0x1"') }),
  )
  const parts = encodeBatch(responses)
  assert.equal(parts.length, 3)
  assert.equal(parts[1], large)
  const items = JSON.parse(Buffer.concat(parts).toString()) as { id: number }[]
  assert.deepEqual(
    items.map(({ id }) => id),
    Array.from({ length: 1000 }, (_, i) => i),
  )
})
