import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHostCheck, hostPolicy } from '../../../src/server/access/hosts.js'

test('by default only local names are served on loopback, and all names elsewhere', () => {
  assert.deepEqual(hostPolicy(undefined, '127.0.0.1'), [])
  assert.equal(hostPolicy(undefined, '0.0.0.0'), '*')
  assert.deepEqual(hostPolicy('Node.example, b', '10.0.0.1'), ['node.example', 'b', '10.0.0.1'])
  assert.equal(hostPolicy('a,*', '127.0.0.1'), '*')
})

test('local names are served whatever their port and case', () => {
  const isServed = createHostCheck([])
  for (const host of ['localhost', 'LOCALHOST:8545', 'localhost.', '127.0.0.1:1', '127.9.9.9', '[::1]:8545', '[::1]'])
    assert.ok(isServed(host), host)
  for (const host of ['a.example', 'localhost.a.example:8545', '127.0.0.1.a.example', '192.168.0.1', '', '[::2]:1'])
    assert.ok(!isServed(host), host)
  assert.ok(isServed(undefined), 'HTTP/1.0 needs none')
})

test('names on the list are served beside them', () => {
  const isServed = createHostCheck(['node.example'])
  assert.ok(isServed('node.example:443') && isServed('localhost'))
  assert.ok(!isServed('other.example'))
  assert.ok(createHostCheck('*')('other.example'))
})
