import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { ObjectConflict, ObjectStoreFailed } from '../../../src/lib/objects/errors.js'
import { createS3Store } from '../../../src/lib/objects/s3Store.js'
import { testObjectStore } from '../../support/objectStoreTests.js'
import { radosgwOfFile, SKIP_RADOSGW } from '../../support/radosgw.js'

const skip = SKIP_RADOSGW
const radosgw = radosgwOfFile({ after })

async function openStore(prefix: string) {
  const { makeBucket, settings } = await radosgw()
  return createS3Store(await makeBucket(), prefix, settings)
}

testObjectStore('radosgw with a prefix', () => openStore('some/prefix'), { skip })
testObjectStore('radosgw', () => openStore(''), { skip })

test('a list has more than one page', { skip }, async () => {
  const store = await openStore('p')
  const names = Array.from({ length: 1203 }, (_, i) => `list/${i}`)
  for (let i = 0; i < names.length; i += 100) {
    await Promise.all(names.slice(i, i + 100).map((name) => store.put(name, Buffer.from('x'))))
  }
  const found: string[] = []
  for await (const { key } of store.list('list/')) found.push(key)
  assert.deepEqual(found, names.toSorted())
})

test('what S3 refuses is said with its code, and without credentials', { skip }, async () => {
  const { settings, makeBucket } = await radosgw()
  const bucket = await makeBucket()
  const wrong = { ...settings, credentials: { ...settings.credentials, secretAccessKey: 'another-secret' } }
  const failures: [() => Promise<unknown>, RegExp, string | undefined][] = [
    [
      () => createS3Store('not-there', 'p', settings).put('x', Buffer.from('x')),
      /^put s3:\/\/not-there\/p\/x: HTTP 404 NoSuchBucket/,
      'NoSuchBucket',
    ],
    [
      () => createS3Store(bucket, '', wrong).put('x', Buffer.from('x')),
      /HTTP 403 SignatureDoesNotMatch; check AWS_/,
      'SignatureDoesNotMatch',
    ],
    [() => createS3Store(bucket, '', wrong).head('x'), /^head .*\/x: HTTP 403/, undefined],
  ]
  for (const [failing, message, code] of failures) {
    await assert.rejects(failing(), (error: ObjectStoreFailed) => {
      assert.ok(error instanceof ObjectStoreFailed, String(error))
      assert.match(error.message, message)
      assert.equal(error.code, code)
      const text = `${error.stack}${error.cause}`
      for (const secret of [settings.credentials.accessKeyId, settings.credentials.secretAccessKey, 'another-secret']) {
        assert.equal(text.includes(secret), false, 'a credential')
      }
      return true
    })
  }
})

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A server that answers each request with the next answer, and the last one from then on. */
async function answering(t: TestContext, answers: readonly Answer[], idleMs = 30_000) {
  let requests = 0
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests++, answers.length - 1)]
    request.on('error', () => {})
    request.resume()
    request.on('end', () => answer(response, request))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const credentials = { accessKeyId: 'A', secretAccessKey: 'S' }
  const settings = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-1',
    credentials,
    attempts: 4,
    firstPauseMs: 1,
    idleMs,
  }
  return { store: createS3Store('bucket', 'p', settings), requests: () => requests }
}

const status =
  (code: number, body = ''): Answer =>
  (response) =>
    void response.writeHead(code, { etag: '"e"' }).end(body)
const cut: Answer = (response) => void response.destroy()
const silent: Answer = () => {}

test('5xx, 429, a lost connection and silence are tried again, other refusals are not', async (t) => {
  const { store, requests } = await answering(t, [status(503), status(429), cut, status(200)])
  await store.put('x', Buffer.from('x'))
  assert.equal(requests(), 4)
  const slow = await answering(t, [silent, status(200)], 300)
  await slow.store.put('x', Buffer.from('x'))
  assert.equal(slow.requests(), 2)
  const refused = await answering(t, [status(400, '<Error><Code>Bad</Code><Message>of A</Message></Error>')])
  await assert.rejects(
    refused.store.put('x', Buffer.from('x')),
    /^ObjectStoreFailed: put s3:\/\/bucket\/p\/x: HTTP 400 Bad$/,
  )
  assert.equal(refused.requests(), 1)
  const down = await answering(t, [status(500)])
  await assert.rejects(down.store.head('x'), /HTTP 500/)
  assert.equal(down.requests(), 4)
})

test('a conditional put whose first answer was lost has succeeded when its object is there', async (t) => {
  const mine = await answering(t, [cut, status(412), status(200, 'mine')])
  await mine.store.put('x', Buffer.from('mine'), { condition: 'absent' })
  const other = await answering(t, [cut, status(412), status(200, 'else')])
  await assert.rejects(other.store.put('x', Buffer.from('mine'), { condition: 'absent' }), ObjectConflict)
  const first = await answering(t, [status(412)])
  await assert.rejects(first.store.put('x', Buffer.from('mine'), { condition: 'absent' }), ObjectConflict)
  assert.equal(first.requests(), 1)
})

test('a download that stops coming fails, and one that is cut, too', async (t) => {
  for (const end of [silent, cut]) {
    const { store } = await answering(
      t,
      [
        (response, request) => {
          response.writeHead(200, { 'content-length': '1000' })
          response.write('half')
          setTimeout(() => end(response, request), 10)
        },
      ],
      500,
    )
    const { stream } = (await store.get('x'))!
    await assert.rejects(stream.toArray(), (error: Error) => {
      assert.ok(error instanceof ObjectStoreFailed, String(error))
      assert.match(error.message, /^get s3:\/\/bucket\/p\/x: /)
      return true
    })
  }
})

test('a signal ends waiting for an answer and for the next attempt', async (t) => {
  for (const answer of [silent, status(503)]) {
    const stop = new AbortController()
    const { store } = await answering(t, [
      (response, request) => {
        answer(response, request)
        stop.abort(new Error('stopped'))
      },
    ])
    await assert.rejects(store.head('x', { signal: stop.signal }), /stopped/)
  }
})

test('requests are signed, path style, with the digest of what is put', async (t) => {
  const seen: IncomingMessage[] = []
  const { store } = await answering(t, [
    (response, request) => {
      seen.push(request)
      response.writeHead(200).end()
    },
  ])
  await store.put('a/b', Buffer.from('x'), { sha256: 'f'.repeat(64), condition: 'absent' })
  const [{ url, method, headers }] = seen
  assert.deepEqual([method, url], ['PUT', '/bucket/p/a/b'])
  assert.equal(headers['x-amz-content-sha256'], 'f'.repeat(64))
  assert.equal(headers['if-none-match'], '*')
  assert.equal(headers['content-length'], '1')
  assert.match(
    String(headers.authorization),
    /^AWS4-HMAC-SHA256 Credential=A\/\d{8}\/eu-1\/s3\/aws4_request, SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date, /,
  )
})
