import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsMethod, parseMethodPatterns } from '../../../src/server/access/methodPatterns.js'

test('a method may be called if a pattern names it and none excludes it', () => {
  const allowed = (list: string) =>
    ['eth_call', 'eth_getLogs', 'debug_traceCall', 'net_version'].filter((name) =>
      allowsMethod(parseMethodPatterns(list)!, name),
    )
  assert.deepEqual(allowed('eth_*'), ['eth_call', 'eth_getLogs'])
  assert.deepEqual(allowed('eth_*,net_version'), ['eth_call', 'eth_getLogs', 'net_version'])
  assert.deepEqual(allowed('!debug_*, !eth_getLogs'), ['eth_call', 'net_version'])
  assert.deepEqual(allowed('*,!eth_*'), ['debug_traceCall', 'net_version'])
  assert.deepEqual(allowed('*Call'), ['debug_traceCall'])
  assert.deepEqual(allowed('*_*al*'), ['eth_call', 'debug_traceCall'])
  assert.deepEqual(allowed('eth_call*call'), [])
  assert.deepEqual(allowed('net'), [])
})

test('a pattern of many stars is compared in linear time', () => {
  const pattern = `${'*a'.repeat(40)}*b`
  assert.equal(allowsMethod([pattern], 'a'.repeat(5000)), false)
})

test('what is no list of names is refused', () => {
  for (const text of ['', 'eth_*,', 'eth call', '!!eth_call', 'eth_call;', 'a'.repeat(101)]) {
    assert.equal(parseMethodPatterns(text), undefined, text)
  }
})
