import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL_METHODS, METHODS } from '../../../src/rpc/methods.js'
import {
  allowsMethod as allowsNamed,
  parseMethodPatterns,
  partlyExcluded,
  unknownPatterns,
} from '../../../src/server/access/methodPatterns.js'

const allowsMethod = (patterns: readonly string[], name: string, params?: unknown) =>
  allowsNamed(patterns, { name, classes: METHODS.get(name)?.classes ?? [] }, params)

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

test('a class stands for all its methods, and for subscriptions to logs', () => {
  const log = ['eth_getLogs', 'eth_getLogsWithCursor', 'eth_newFilter', 'cairn_getDecodedLogs', 'starknet_getEvents']
  for (const method of log) {
    assert.equal(allowsMethod(['!logs'], method), false, method)
    assert.equal(allowsMethod(['logs'], method), true, method)
    assert.equal(allowsMethod(['!traces', '!sql'], method), true, method)
  }
  assert.equal(allowsMethod(['logs'], 'eth_call'), false)
  assert.equal(allowsMethod(['calls', '!eth_estimateGas'], 'eth_estimateGas'), false)
  assert.equal(allowsMethod(['!calls'], 'trace_call'), false, 'a trace of an invented call is a call')
  assert.equal(allowsMethod(['!traces'], 'trace_call'), false)
  for (const [params, allowed] of [
    [['logs', {}], false],
    [{ name: 'logs' }, false],
    [['newHeads'], true],
    [undefined, true],
    ['logs', true], // refused as parameters
  ] as const) {
    assert.equal(allowsMethod(['!logs'], 'eth_subscribe', params), allowed, JSON.stringify(params))
  }
  assert.equal(allowsMethod(['!sql'], 'sql'), false)
  assert.equal(allowsMethod(['eth_*'], 'sql'), false)
})

test('patterns that name nothing are found, and classes that are excluded in part', () => {
  assert.deepEqual(
    unknownPatterns(['eth_*', '!logs', 'sql', '*Logs', 'eth_getLog', '!eth_getlogs', 'parity_*'], ALL_METHODS),
    ['eth_getLog', 'eth_getlogs', 'parity_*'],
  )
  const left = (patterns: string[]) =>
    partlyExcluded(patterns, ALL_METHODS).map(({ name, left }) => [name, left.length > 0, left[0]])
  assert.deepEqual(left(['!eth_getLogs']), [['logs', true, 'eth_getLogsWithCursor']])
  assert.deepEqual(left(['eth_*', '!eth_getLogs*']), [['logs', true, 'eth_newFilter']])
  assert.deepEqual(left(['!trace_*']), [['traces', true, 'eth_getBlockAccessList']])
  for (const whole of ['!logs', '!logs,!eth_getLogs', 'eth_*,!debug_*', 'eth_getLogs', 'eth_call,!eth_getLogs']) {
    assert.deepEqual(left(whole.split(',')), [], whole)
  }
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
