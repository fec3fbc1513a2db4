import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { ServingOptions } from '../../../src/cli/serving/options.js'
import { request, startTestServer } from '../../support/serving.js'

type After = Parameters<typeof startTestServer>[0]

const LONG = request('test_long', '0x19000') // 102,400 characters

const startCompressing = (t: After, options: Partial<ServingOptions> = {}) =>
  startTestServer(t, { compression: { mode: 'on', aboveBytes: 65_536 }, ...options })

interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** The answer as it came: `fetch` would send an Accept-Encoding of its own and decode. */
function postRaw(url: string, body: unknown, acceptEncoding?: string): Promise<RawAnswer> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (acceptEncoding !== undefined) headers['Accept-Encoding'] = acceptEncoding
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

function decode({ headers, body }: RawAnswer): string {
  const coding = headers['content-encoding']
  if (coding === 'br') return brotliDecompressSync(body).toString()
  if (coding === 'gzip') return gunzipSync(body).toString()
  assert.equal(coding, undefined)
  return body.toString()
}

test('a large answer comes in the coding that the client wants, and is the same in each', async (t) => {
  const { url } = await startCompressing(t)
  const plain = await postRaw(url, LONG)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.equal((JSON.parse(plain.body.toString()) as { result: string }).result.length, 102_400)
  const codings: [string, string | undefined][] = [
    ['gzip', 'gzip'],
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['*', 'br'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['zstd', undefined],
  ]
  for (const [accepted, coding] of codings) {
    const answer = await postRaw(url, LONG, accepted)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-encoding'], coding, accepted)
    assert.equal(answer.headers.vary, 'Accept-Encoding')
    assert.equal(answer.headers['content-type'], 'application/json')
    assert.equal(answer.headers['content-length'], String(answer.body.length))
    assert.equal(decode(answer), plain.body.toString(), accepted)
    assert.equal(answer.body.length < plain.body.length, coding !== undefined)
  }
})

test('a batch is compressed as a whole', async (t) => {
  const { url } = await startCompressing(t)
  const batch = Array.from({ length: 300 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'test_long', params: ['0x200'] }))
  const answer = await postRaw(url, batch, 'gzip')
  assert.equal(answer.headers['content-encoding'], 'gzip')
  assert.equal(decode(answer), (await postRaw(url, batch)).body.toString())
})

test('an answer up to the size is sent as it is, one byte more is compressed', async (t) => {
  const { url } = await startCompressing(t)
  const around = '{"jsonrpc":"2.0","id":1,"result":""}'.length
  const ofSize = (size: number) => request('test_long', `0x${(size - around).toString(16)}`)
  const small = await postRaw(url, ofSize(65_536), 'gzip')
  assert.equal(small.body.length, 65_536)
  assert.deepEqual([small.headers['content-encoding'], small.headers.vary], [undefined, undefined])
  const large = await postRaw(url, ofSize(65_537), 'gzip')
  assert.equal(large.headers['content-encoding'], 'gzip')
  assert.equal(decode(large).length, 65_537)
})

test('a list of origins and the coding both vary an answer', async (t) => {
  const { url } = await startCompressing(t, { cors: ['https://a.example'] })
  assert.equal((await postRaw(url, LONG, 'gzip')).headers.vary, 'Origin, Accept-Encoding')
})

test('by default, clients on this machine get uncompressed answers; when it is off, all clients do', async (t) => {
  const auto = await startCompressing(t, { compression: { mode: 'auto', aboveBytes: 65_536 } })
  assert.equal((await postRaw(auto.url, LONG, 'gzip')).headers['content-encoding'], undefined)
  const off = await startCompressing(t, { compression: { mode: 'off', aboveBytes: 0 } })
  const { headers } = await postRaw(off.url, LONG, 'gzip')
  assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined])
})

test('clients that disconnect while their answers are compressed affect no other client', async (t) => {
  const { url } = await startCompressing(t)
  const body = JSON.stringify(request('test_long', '0x1000000')) // 16 MB
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nContent-Type: application/json\r\n`
  const sockets = Array.from({ length: 8 }, () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    return socket
  })
  // By the time that this is answered, so were the calls before it: they are being compressed or wait for it.
  await postRaw(url, request('test_echo', 'w'))
  for (const socket of sockets) socket.destroy()
  const answer = await postRaw(url, LONG, 'gzip')
  assert.equal((JSON.parse(decode(answer)) as { result: string }).result.length, 102_400)
})
