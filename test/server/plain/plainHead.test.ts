import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { parsePlainHead } from '../../../src/server/plain/plainHead.js'
import { seededRandom } from '../../support/random.js'
import { openRaw } from '../../support/rawHttp.js'

const LINES = ['POST /v3/key?x=1 HTTP/1.1', 'Host: localhost', 'Content-Length: 12', 'content-type:application/json \t']
const headOf = (...lines: string[]) => parsePlainHead(lines.join('\r\n'))

test('a plain head is read', () => {
  assert.deepEqual(headOf(...LINES), {
    path: '/v3/key?x=1',
    bodyBytes: 12,
    keepsAlive: true,
    contentType: 'application/json',
    host: 'localhost',
    origin: undefined,
    authorization: undefined,
    apiKey: undefined,
    acceptEncoding: undefined,
    minBlock: undefined,
  })
  const more = [
    'Connection: Close',
    'Origin: https://a.example',
    'Accept-Encoding: gzip, br',
    'X-Empty:',
    'Cookie: a=b',
  ]
  const read = headOf(...LINES, ...more)!
  assert.deepEqual([read.keepsAlive, read.origin, read.acceptEncoding], [false, 'https://a.example', 'gzip, br'])
  assert.equal(headOf(...LINES, 'connection: keep-alive')!.keepsAlive, true)
})

test('an offer to upgrade is ignored', () => {
  const offer = ['Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk']
  assert.equal(headOf(...LINES, ...offer, 'Connection: Upgrade, HTTP2-Settings')!.keepsAlive, true)
  assert.equal(headOf(...LINES, ...offer, 'Connection: close, upgrade')!.keepsAlive, false)
})

test('Node accepts every head that is read as plain, with the same fields', async (t) => {
  let heard: IncomingMessage | undefined
  const server = createServer((request, response) => {
    heard = request
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const random = seededRandom(7)
  const lines = [...LINES, 'Connection: keep-alive', 'Origin: https://a.example', 'X-API-Key: k', 'Cookie: a=b']
  const pieces = [' ', '\t', ',', ':', '\r', '\n', '\0', '0', 'close', 'Upgrade: h2c\r\n', '\x7f', '\xe9', '"']
  let plain = 0
  for (let i = 0; i < 2000; i++) {
    let text = lines.join('\r\n')
    for (let changes = random.below(3); changes >= 0; changes--) {
      const at = random.below(text.length)
      text = text.slice(0, at) + pieces[random.below(pieces.length)] + text.slice(at + random.below(2))
    }
    const head = parsePlainHead(text)
    if (head === undefined) continue
    plain++
    heard = undefined
    const { socket, next } = await openRaw(t, `http://127.0.0.1:${port}`)
    socket.write(`${text}\r\n\r\n${' '.repeat(head.bodyBytes)}`, 'latin1')
    const answer = await next()
    assert.equal(answer?.status, 200, JSON.stringify(text))
    const { url, headers } = heard as unknown as IncomingMessage
    assert.equal(url, head.path)
    assert.equal(Number(headers['content-length']), head.bodyBytes)
    const { host, origin, contentType, apiKey } = head
    const read = [headers.host, headers.origin, headers['content-type'], headers['x-api-key']]
    assert.deepEqual(read, [host, origin, contentType, apiKey], JSON.stringify(text))
    assert.equal(answer?.headers.connection, head.keepsAlive ? 'keep-alive' : 'close', JSON.stringify(text))
    socket.destroy()
  }
  assert.ok(plain > 200, String(plain))
})

for (const [name, lines] of Object.entries({
  'another method': ['GET / HTTP/1.1', ...LINES.slice(1)],
  'another version': ['POST / HTTP/1.0', ...LINES.slice(1)],
  'a path that is none': ['POST * HTTP/1.1', ...LINES.slice(1)],
  'a blank in the path': ['POST /a b HTTP/1.1', ...LINES.slice(1)],
  'no host': LINES.filter((line) => !line.startsWith('Host')),
  'two hosts': [...LINES, 'host: b'],
  'no length': LINES.filter((line) => !line.startsWith('Content-Length')),
  'two lengths': [...LINES, 'Content-Length: 12'],
  'a signed length': [LINES[0], LINES[1], 'Content-Length: +12'],
  'a length in two parts': [LINES[0], LINES[1], 'Content-Length: 1 2'],
  'an empty length': [LINES[0], LINES[1], 'Content-Length: '],
  chunks: [...LINES, 'Transfer-Encoding: chunked'],
  'a compressed body': [...LINES, 'Content-Encoding: gzip'],
  'an expectation': [...LINES, 'Expect: 100-continue'],
  'an unknown wish for the connection': [...LINES, 'Connection: keep-alive, Foo'],
  'a tab after the length': [...LINES.slice(0, 2), 'Content-Length: 12\t'],
  'two wishes for the connection': [...LINES, 'Connection: keep-alive, close'],
  'a folded line': [...LINES, ' folded: b'],
  'a blank before the colon': [...LINES, 'Name : b'],
  'a line without a colon': [...LINES, 'name'],
  'a lone line feed': [...LINES, 'Name: a\nTransfer-Encoding: chunked'],
  'a lone carriage return': [...LINES, 'Name: a\rb'],
  'a zero byte': [...LINES, 'Name: a\0b'],
  'a byte above 0x7e': [...LINES, 'Name: \xe9'],
})) {
  test(`a head is left to Node for ${name}`, () => {
    assert.equal(headOf(...lines), undefined)
  })
}
