import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePlainHead } from '../../../src/server/plain/plainHead.js'

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
  'an upgrade': [...LINES, 'Upgrade: websocket', 'Connection: Upgrade'],
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
