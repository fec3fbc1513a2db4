import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corsHeaders, corsPolicy } from '../../src/server/cors.js'

test('every origin may read a server on loopback, none a server on another address, unless told', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) assert.equal(corsPolicy(undefined, host), '*')
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example'])
    assert.deepEqual(corsPolicy(undefined, host), [])
  assert.equal(corsPolicy('*', '0.0.0.0'), '*')
  assert.deepEqual(corsPolicy('https://a.example, https://b.example,', '127.0.0.1'), [
    'https://a.example',
    'https://b.example',
  ])
})

test('an origin that is listed is named, another gets nothing', () => {
  const policy = ['https://a.example']
  const allowed = (origin?: string) => Object.fromEntries(corsHeaders(policy, origin))['Access-Control-Allow-Origin']
  assert.equal(allowed('https://a.example'), 'https://a.example')
  assert.equal(allowed('https://b.example'), undefined)
  assert.equal(allowed(), undefined)
  assert.deepEqual(corsHeaders(policy, 'https://b.example'), [['Vary', 'Origin']])
})
