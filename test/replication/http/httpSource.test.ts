import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { streamUrl } from '../../../src/replication/http/connection.js'
import { encodeFrame, encodeUnit } from '../../../src/replication/http/frames.js'
import { createHttpSource } from '../../../src/replication/http/httpSource.js'

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const CHAIN = { chainId: 5n, genesisHash: hash(0) }
const GREETING = { format: 1, 'chain-id': '5', genesis: formatData(hash(0)) }
const blocks = (...numbers: number[]) =>
  numbers.flatMap((number) =>
    encodeUnit({
      kind: 'blocks',
      blocks: [{ number, hash: hash(number), parentHash: hash(number - 1), payload: Uint8Array.of(1, number) }],
    }),
  )

type Answer = (response: ServerResponse) => void

/** Opens a source over a server that returns `answers` in order and repeats the last one; and lists the places that
 *  were asked for. It never waits. */
async function open(t: TestContext, answers: readonly Answer[], path = '') {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    asked.push(`${pathname} ${searchParams.get('locator')!.replace(/:0x(..)\1*/g, ':$1')}`)
    answers[Math.min(asked.length, answers.length) - 1](response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = new AbortController()
  t.after(() => {
    stop.abort(new Error('the test ended'))
    server.closeAllConnections()
    server.close()
  })
  const problems: (string | null)[] = []
  const clock = {
    nowMs: () => 0,
    unixMs: () => 0,
    sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  const source = createHttpSource({ url, chain: CHAIN, clock, onProblem: (problem) => void problems.push(problem) })
  const units = source.units(
    {
      locator: [
        { number: 4, hash: hash(4) },
        { number: 0, hash: hash(0) },
      ],
    },
    stop.signal,
  )
  const take = async (count: number) => {
    const taken: string[] = []
    for await (const { unit } of units) {
      assert.equal(unit.kind, 'blocks')
      if (unit.kind === 'blocks') taken.push(unit.blocks.map(({ number }) => number).join(' '))
      if (taken.length === count) break
    }
    return taken
  }
  return { take, asked, problems }
}

const send =
  (...frames: readonly Buffer[]): Answer =>
  (response) => {
    response.write(Buffer.concat([encodeFrame(GREETING), ...frames]))
  }
const sendAndEnd =
  (...frames: readonly Buffer[]): Answer =>
  (response) =>
    void response.end(Buffer.concat([encodeFrame(GREETING), ...frames]))

test('resumes after the last block when the connection is lost, the server ends the stream or is busy', async (t) => {
  const { take, asked, problems } = await open(t, [
    (response) => void response.writeHead(503).end('{"error":"16 replicas are connected already"}'),
    (response) => {
      // The connection is cut within the second block.
      response.write(Buffer.concat([encodeFrame(GREETING), ...blocks(5, 6)]).subarray(0, -1), () => response.destroy())
    },
    sendAndEnd(...blocks(6)),
    send(...blocks(7, 8)),
  ])
  assert.deepEqual(await take(4), ['5', '6', '7', '8'])
  assert.deepEqual(asked, [
    '/replication 4:04,0:00',
    '/replication 4:04,0:00',
    '/replication 5:05,4:04,0:00',
    '/replication 6:06,5:05,4:04,0:00',
  ])
  assert.match(problems[0]!, /HTTP 503: 16 replicas are connected already/)
  assert.equal(problems.at(-1), null)
})

test('a server that refuses the key, replicates nothing or holds another chain ends it with its reason', async (t) => {
  const refused: [Answer, RegExp][] = [
    [(response) => void response.writeHead(401).end('{"error":"invalid API key"}'), /HTTP 401: invalid API key/],
    [
      (response) => void response.writeHead(404).end('no'),
      /HTTP 404: it does not replicate; start it with --replication/,
    ],
    [
      (response) => void response.end(encodeFrame({ ...GREETING, format: 3 })),
      /format 1 or 2, got 3: the server is newer/,
    ],
    [(response) => void response.end(encodeFrame({ ...GREETING, 'chain-id': '6' })), /expected chain 5, got 6/],
    [
      (response) => void response.end(encodeFrame({ ...GREETING, genesis: '0x01' })),
      /expected the genesis 0x0000.*, got 0x01/,
    ],
  ]
  for (const [answer, reason] of refused) {
    const { take } = await open(t, [answer])
    await assert.rejects(take(1), reason)
  }
})

test('frames that are forged, reordered or cut off by the server end it by name', async (t) => {
  const [five, six] = blocks(5, 6)
  const wrong: [Answer, RegExp][] = [
    [send(six, five), /frame: number: expected block 5, got 6/],
    [sendAndEnd(five.subarray(0, -1)), /frame: expected at least \d+ bytes, got the end after \d+/],
    [send(Buffer.from('{"not":"a frame"}')), /length of the header: expected at most 4096/],
    [
      send(encodeFrame({ kind: 'block', number: 5, hash: '0x05', parent: '0x04' })),
      /frame: hash: expected 32 bytes, got "0x05"/,
    ],
  ]
  for (const [answer, reason] of wrong) {
    const { take } = await open(t, [answer])
    await assert.rejects(take(1), reason)
  }
})

test('the key is the path of the address, and not in its problems', async (t) => {
  const key = '0123456789abcdef0123456789abcdef'
  const { take, asked, problems } = await open(t, [(response) => response.destroy(), send(...blocks(5))], `/v3/${key}`)
  await take(1)
  assert.equal(asked[0], `/replication/${key} 4:04,0:00`)
  assert.doesNotMatch(String(problems), /0123456789abcdef/)
  assert.equal(streamUrl('http://h:1').href, 'http://h:1/replication')
  assert.equal(streamUrl(`https://h/${key}`).href, `https://h/replication/${key}`)
  assert.equal(streamUrl(`http://h/replication/${key}/`).href, `http://h/replication/${key}`)
  assert.throws(() => streamUrl('ws://h'), /--replica: expected a URL/)
})
