import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createPage, isOwnOrigin } from '../../../src/server/page/page.js'
import { openRaw } from '../../support/rawHttp.js'
import { temporaryDirectory } from '../../support/temporary.js'

const SCRIPT = 'console.log(1)\n'.repeat(100)

/** A server with a page of three files, and 404 for all else. @returns its URL */
async function servePage(t: TestContext): Promise<string> {
  const folder = temporaryDirectory(t)
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Cairn</title>')
  writeFileSync(join(folder, 'assets', 'index-abc.js'), SCRIPT)
  writeFileSync(join(folder, 'assets', 'index-abc.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(folder, 'assets', 'index-abc.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(folder, '.cairn-stamp'), 'secret')
  const page = createPage(folder)
  const server = createServer((request, response) => {
    if (!page.answer(request, response)) response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('the page is sent with a policy that allows nothing from elsewhere', async (t) => {
  const url = await servePage(t)
  const response = await fetch(`${url}/?from=a-link`)
  assert.equal(response.status, 200)
  assert.equal(await response.text(), '<!doctype html><title>Cairn</title>')
  const { headers } = response
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "connect-src 'self'"]) {
    assert.ok(policy.split('; ').includes(rule), rule)
  }
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('cache-control'), 'no-cache')
})

test('hashed files are kept for good, and a known file is not sent again', async (t) => {
  const url = await servePage(t)
  const first = await fetch(`${url}/assets/index-abc.js`)
  assert.equal(first.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const etag = first.headers.get('etag')!
  for (const [tag, status] of [
    [etag, 304],
    [`W/${etag}`, 304],
    [`"other", ${etag}`, 304],
    ['"other"', 200],
  ] as const) {
    const again = await fetch(`${url}/assets/index-abc.js`, { headers: { 'If-None-Match': tag } })
    assert.equal(again.status, status, tag)
    assert.equal(again.headers.get('etag'), etag)
    assert.equal(await again.text(), status === 304 ? '' : SCRIPT)
  }
})

test('files go out as the build compressed them, where the client takes that', async (t) => {
  const url = await servePage(t)
  // Not fetch, which decodes what it gets.
  const get = async (headers: string[]) => {
    const connection = await openRaw(t, url)
    connection.socket.write(
      `${['GET /assets/index-abc.js HTTP/1.1', 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`,
    )
    return (await connection.next())!
  }
  const plain = await get([])
  assert.deepEqual([plain.headers['content-encoding'], plain.body], [undefined, SCRIPT])
  for (const [accepted, coding, bytes] of [
    ['gzip, br', 'br', brotliCompressSync(SCRIPT)],
    ['gzip', 'gzip', gzipSync(SCRIPT)],
  ] as const) {
    const { headers } = await get([`Accept-Encoding: ${accepted}`])
    assert.equal(headers['content-encoding'], coding)
    assert.equal(Number(headers['content-length']), bytes.length)
    assert.equal(headers.vary, 'Accept-Encoding')
  }
  assert.equal(await (await fetch(`${url}/assets/index-abc.js`)).text(), SCRIPT)
})

test('HEAD gets the head, and what is no file of the page is left to others', async (t) => {
  const url = await servePage(t)
  const head = await fetch(`${url}/`, { method: 'HEAD' })
  assert.equal(head.status, 200)
  assert.equal(Number(head.headers.get('content-length')), '<!doctype html><title>Cairn</title>'.length)
  assert.equal(await head.text(), '')
  for (const path of [
    '/index.html',
    '/.cairn-stamp',
    '/assets/',
    '/assets/index-abc.js.br',
    '/assets/%2e%2e/index.html',
  ]) {
    assert.equal((await fetch(url + path)).status, 404, path)
  }
  assert.equal((await fetch(`${url}/`, { method: 'POST', body: '{}' })).status, 404)
})

test('without a built page every request is left to others', async (t) => {
  const page = createPage(temporaryDirectory(t))
  assert.equal(page.answer({ method: 'GET', url: '/', headers: {} } as never, {} as never), false)
})

test('the origin of the page is that of the Host header', () => {
  assert.ok(isOwnOrigin('http://127.0.0.1:8545', '127.0.0.1:8545'))
  assert.ok(isOwnOrigin('https://cairn.example', 'cairn.example'))
  assert.ok(!isOwnOrigin('http://127.0.0.1:8546', '127.0.0.1:8545'))
  assert.ok(!isOwnOrigin('null', undefined))
})

test('a path of EIP-3091 redirects to its view, also below the path of a proxy', async (t) => {
  const url = await servePage(t)
  const hash = `0x${'ab'.repeat(32)}`
  const response = await fetch(`${url}/tx/${hash}?from=a-wallet`, { redirect: 'manual' })
  assert.equal(response.status, 302)
  assert.equal(response.headers.get('location'), `../#/tx/${hash}`)
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  assert.equal(new URL(`../#/tx/${hash}`, `https://host.example/cairn/tx/${hash}`).pathname, '/cairn/')
  assert.equal((await fetch(`${url}/tx/${hash}`, { method: 'POST', redirect: 'manual' })).status, 404)
  assert.equal((await fetch(`${url}/tx/0x12`, { redirect: 'manual' })).status, 404)
})
