import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { WebSocket } from 'ws'
import { packagePath } from '../../../src/store/open.js'
import { runCairnOk, serveFixture, startCairn } from '../../support/cairn.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* The page as the program serves it, without a browser. */

const server = await serveFixture({ after })

test('the page is served at / beside the calls, and names its own files only', async () => {
  const response = await fetch(server.url)
  assert.equal(response.status, 200)
  const html = await response.text()
  const links = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, link]) => link)
  assert.ok(links.length >= 3, html)
  for (const link of links) {
    assert.match(link, /^\.\/assets\//)
    assert.equal((await fetch(new URL(link, `${server.url}/`))).status, 200, link)
  }
  assert.equal((await fetch(`${server.url}/assets/index-missing.js`)).status, 404)
  assert.equal(await resultOf(server.url, 'eth_chainId'), '0x4f25')
})

test('the whole page is below 300 kB compressed', (t) => {
  const folder = packagePath('dist/web')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  const isSource = (path: string) => /\.(html|js|css|svg)$/.test(path)
  for (const suffix of ['.br', '.gz']) {
    const sizes = files
      .filter(isSource)
      .map((path) => statSync(files.includes(path + suffix) ? path + suffix : path).size)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    t.diagnostic(`${suffix}: ${bytes} bytes in ${sizes.length} files`)
    assert.ok(sizes.length >= 3 && bytes < 300_000, `${bytes} bytes`)
  }
})

test('--page off and addresses that others reach serve no page', async (t) => {
  const off = await serveFixture(t, ['--page', 'off'])
  assert.equal((await fetch(off.url)).status, 405)
  const exposed = await serveFixture(t, ['--host', '0.0.0.0'])
  assert.equal((await fetch(exposed.url.replace('0.0.0.0', '127.0.0.1'))).status, 405)
})

test('with keys the page needs none, the calls do, and its sockets are let in', async (t) => {
  const datadir = temporaryDirectory(t)
  const key = (await runCairnOk(['keys', 'create', 'page', '--datadir', datadir])).trim()
  const { url, socketUrl } = await startCairn(t, ['--datadir', datadir])
  assert.equal((await fetch(url)).status, 200)
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'web3_clientVersion' })
  const post = (more: object) => fetch(`${url}/v3`, { method: 'POST', body, headers: { ...headers, ...more } })
  assert.equal((await post({})).status, 401)
  assert.equal((await post({ 'X-API-Key': key, Origin: url })).status, 200)
  const open = async (origin: string) => {
    const socket = new WebSocket(`${socketUrl}/ws/v3/${key}`, { origin })
    await once(socket, 'open')
    socket.terminate()
  }
  await open(url)
  await assert.rejects(open('http://127.0.0.1:1'), /403/)
})

test('a page of another host name is refused, as calls are', async () => {
  const { hostname, port } = new URL(server.url)
  const status = await new Promise((resolve, reject) => {
    const headers = { Host: 'evil.example' }
    request({ hostname, port, path: '/', headers }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
  assert.equal(status, 403)
})

test('the status counts calls, and has as many blocks as were asked for', async () => {
  type Status = { calls: { count: number; uptimeSeconds: number }; blocks: { number: string }[] }
  const ask = (...params: unknown[]) => resultOf<Status>(server.url, 'cairn_getStatus', params)
  const [first, second] = [await ask(), await ask(5)]
  assert.equal(second.calls.count - first.calls.count, 1)
  assert.ok(second.calls.uptimeSeconds >= first.calls.uptimeSeconds)
  assert.deepEqual(first.blocks, [])
  assert.deepEqual(
    second.blocks.map(({ number }) => Number(number)),
    [70, 71, 72, 73, 74],
  )
  assert.equal((await ask(256)).blocks.length, 75)
})
