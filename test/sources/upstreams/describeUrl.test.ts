import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UsageError } from '../../../src/lib/errors.js'
import { describeUrl, parseUpstreamAddress } from '../../../src/sources/upstreams/describeUrl.js'

describe('describeUrl', () => {
  it('keeps what an operator recognises an upstream by', () => {
    assert.equal(describeUrl('http://127.0.0.1:8545'), 'http://127.0.0.1:8545')
    assert.equal(describeUrl('wss://node.example.org/ws'), 'wss://node.example.org/ws')
    assert.equal(describeUrl('https://example.org/ext/bc/C/rpc/'), 'https://example.org/ext/bc/C/rpc')
  })

  it('hides user, password, query, fragment, and all of a path that may be a key', () => {
    assert.equal(describeUrl('https://user:secret@example.org/'), 'https://example.org')
    assert.equal(describeUrl('https://example.org/?apikey=secret#secret'), 'https://example.org')
    assert.equal(describeUrl('https://example.org/v3/0123456789abcdef'), 'https://example.org/v3/…')
    assert.equal(describeUrl('https://example.org/secretword/rpc'), 'https://example.org/…/rpc')
    assert.equal(describeUrl('https://0123456789abcdef0123.eth.example.org'), 'https://….eth.example.org')
    assert.equal(describeUrl('user:secret@'), '…')
  })
})

describe('an upstream address', () => {
  const address = parseUpstreamAddress({
    url: 'https://us%40er:pass%20word@example.org/v3/deadbeefcafe?token=querysecret',
    headers: { authorization: 'Bearer headersecret', 'x-other': 'othersecret' },
  })

  it('takes every secret out of texts', () => {
    const basic = Buffer.from('us@er:pass word').toString('base64')
    const secrets = ['us@er', 'us%40er', 'pass word', 'pass%20word', 'deadbeefcafe', 'querysecret', 'headersecret']
    for (const secret of [...secrets, 'othersecret', basic]) {
      assert.doesNotMatch(address.redact(`the key ${secret}, is unknown`), new RegExp(secret))
    }
    assert.equal(address.redact('no\nsecret'), 'no secret')
    assert.equal(address.redact('x'.repeat(500)).length, 201)
  })

  it('has no credentials in its name and sends them as a header', () => {
    assert.equal(address.name, 'https://example.org/v3/…')
    assert.equal(address.url.username + address.url.password, '')
    assert.equal(address.headers.authorization, 'Bearer headersecret')
    const basic = parseUpstreamAddress({ url: 'http://user:secret@example.org' })
    assert.equal(basic.headers.authorization, `Basic ${Buffer.from('user:secret').toString('base64')}`)
  })

  it('is refused without its credentials in the message', () => {
    const refuse = (url: string, headers?: Record<string, string>) =>
      assert.throws(
        () => parseUpstreamAddress({ url, headers }),
        (error) => {
          assert.ok(error instanceof UsageError)
          assert.doesNotMatch(error.message, /secret/)
          return true
        },
      )
    refuse('ftp://user:secret@example.org')
    refuse('user:secret@')
    refuse('http://example.org/secret', { 'bad header': 'secret' })
    refuse('http://example.org/secret', { authorization: 'secret\r\nx: y' })
  })
})
