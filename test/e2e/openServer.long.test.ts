import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveFixture } from '../support/cairn.js'
import { post, request } from '../support/serving.js'

/* What `--open` lets in, by where the server listens. */

const CALL = request('eth_blockNumber')

test('an open server on loopback is read by pages of this machine only, and warns of nothing', async (t) => {
  const { url, stop } = await serveFixture(t)
  const readableBy = async (origin: string) =>
    (await post(url, CALL, { 'Content-Type': 'application/json', Origin: origin })).headers.get(
      'access-control-allow-origin',
    )
  assert.equal(await readableBy('http://localhost:5173'), 'http://localhost:5173')
  assert.equal(await readableBy('https://a.example'), null)
  assert.equal((await stop()).stderr, '')
})

test('an open server on all addresses says so, and serves every Host', async (t) => {
  const { url, stop } = await serveFixture(t, ['--host', '0.0.0.0'])
  assert.equal((await post(url.replace('0.0.0.0', '127.0.0.1'), CALL)).status, 200)
  assert.match((await stop()).stderr, /^warning: everyone who reaches 0\.0\.0\.0 may ask this server/)
})
