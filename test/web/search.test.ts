import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recognise } from '../../src/web/search.js'
import { TOKEN } from '../support/fixtureChain.js'

test('recognises blocks, addresses and hashes as people write them', () => {
  const hash = `0x${'ab'.repeat(32)}`
  for (const [text, wanted] of [
    ['17', { kind: 'block', block: '17' }],
    [' 1,234,567 ', { kind: 'block', block: '1234567' }],
    ['0x10', { kind: 'block', block: '16' }],
    ['Latest', { kind: 'block', block: 'latest' }],
    [TOKEN.toUpperCase().replace('0X', '0x'), { kind: 'address', address: TOKEN }],
    [TOKEN.slice(2), { kind: 'address', address: TOKEN }],
    [hash, { kind: 'hash', hash }],
    [hash.slice(2), { kind: 'hash', hash }],
    [
      '0x6d2ad8bf0a3e8e5e3f4f9bbf7ac9e0d9b1a0d2f40c5e1c7b2d3f4a5b6c7d8e9',
      { kind: 'hash', hash: '0x6d2ad8bf0a3e8e5e3f4f9bbf7ac9e0d9b1a0d2f40c5e1c7b2d3f4a5b6c7d8e9' },
    ],
    ['hello', { kind: 'nothing' }],
    ['0x', { kind: 'nothing' }],
    [`${hash}00`, { kind: 'nothing' }],
    ['<img src=x>', { kind: 'nothing' }],
  ] as const) {
    assert.deepEqual(recognise(text), wanted, text)
  }
})
