import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corsHeaders, corsPolicy, isAllowedOrigin } from '../../../src/server/access/cors.js'

const open = (host: string) => ({ host, open: true })

test('by default, pages of this machine may read an open server on loopback, and no page any other server', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) {
    assert.equal(corsPolicy(undefined, open(host)), 'loopback')
    assert.deepEqual(corsPolicy(undefined, { host, open: false }), [])
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example'])
    assert.deepEqual(corsPolicy(undefined, open(host)), [])
  assert.equal(corsPolicy('*', open('0.0.0.0')), '*')
  assert.deepEqual(corsPolicy('https://a.example, https://b.example,', open('127.0.0.1')), [
    'https://a.example',
    'https://b.example',
  ])
})

test('pages of this machine are those of localhost and loopback addresses, at any port', () => {
  for (const origin of ['http://localhost', 'https://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]:5173'])
    assert.ok(isAllowedOrigin('loopback', origin), origin)
  const others = [
    'null',
    'https://a.example',
    'http://localhost.a.example',
    'http://127.0.0.1.a.example',
    'http://10.0.0.1',
  ]
  for (const origin of [...others, 'http://localhost:80@a.example', 'file://localhost', 'http://[::2]', ''])
    assert.ok(!isAllowedOrigin('loopback', origin), origin)
})

test('an origin that is listed is named, another gets nothing', () => {
  const policy = ['https://a.example']
  const allowed = (origin?: string) => Object.fromEntries(corsHeaders(policy, origin))['Access-Control-Allow-Origin']
  assert.equal(allowed('https://a.example'), 'https://a.example')
  assert.equal(allowed('https://b.example'), undefined)
  assert.equal(allowed(), undefined)
  assert.deepEqual(corsHeaders(policy, 'https://b.example'), [['Vary', 'Origin']])
})
