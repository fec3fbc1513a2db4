import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync, inflateSync } from 'node:zlib'
import { readHead } from '../../../src/sources/files/fileBytes.js'
import {
  type L2FileOptions,
  openL2File,
  recogniseL2,
  UnreadableL2File,
} from '../../../src/sources/files/starknetFile.js'
import { readGenesisFile } from '../../../src/sync/import/importFiles.js'
import { makeBlock, makeChain, toRpcJson } from '../../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

async function read(t: TestContext, name: string, content: string | Uint8Array, options: L2FileOptions = {}) {
  const path = join(temporaryDirectory(t), name)
  writeFileSync(path, content)
  const recordings = []
  for await (const recording of openL2File(path, options).recordings()) recordings.push(recording)
  return { path, recordings }
}

const chain = makeChain(1, 5)
const pretty = JSON.stringify(toRpcJson(chain[0]), null, 2)
const lines = chain.map((block) => JSON.stringify(toRpcJson(block)))

test('one recording, on one line or many, gzip or not, whatever the file is called', async (t) => {
  for (const content of [pretty, lines[0], `\n\n${lines[0]}\r\n`, gzipSync(pretty), gzipSync(lines[0])]) {
    const { recordings } = await read(t, 'some.file', content)
    assert.deepEqual(
      recordings.map(({ block }) => block),
      [chain[0]],
    )
  }
})

test('a recording to a line, with empty lines between, and its place for messages', async (t) => {
  for (const content of [lines.join('\n'), gzipSync(`${lines.join('\r\n\r\n')}\n`)]) {
    const { recordings } = await read(t, 'blocks.ndjson', content)
    assert.deepEqual(
      recordings.map(({ block }) => block),
      chain,
    )
  }
  const { path, recordings } = await read(t, 'blocks.ndjson', lines.join('\n'))
  assert.equal(recordings[2].where, `${path}:3`)
})

test('the recording is kept as it came', async (t) => {
  const { recordings } = await read(t, 'block.json', pretty)
  assert.equal(inflateSync(recordings[0].raw).toString(), pretty)
})

test('a file larger than a chunk, its characters of several bytes cut anywhere', async (t) => {
  const wide = lines.map((line) => line.replace('{', `{"note": "${'ü€😀'.repeat(20_001)}", `))
  const { recordings } = await read(t, 'blocks.ndjson', wide.join('\n'))
  assert.deepEqual(
    recordings.map(({ block }) => block),
    chain,
  )
})

test('damage is named with the file, and with the line where there are lines', async (t) => {
  const cases: [string | Uint8Array, RegExp][] = [
    ['', /file: is empty$/],
    ['\n \n', /file: is empty$/],
    [pretty.slice(0, -10), /file: is no whole JSON/],
    [gzipSync(pretty).subarray(0, 200), /file: cannot be read: unexpected end of file/],
    [Buffer.from([...bytesOf(lines[0]), 0xff]), /file:1: cannot be read/],
    [`${lines[0]}\n${lines[1].slice(0, 100)}`, /file:2: is no whole JSON/],
    [`${lines[0]}\n{"a":1}`, /file:2: recording: is no layer-2 block/],
  ]
  for (const [content, message] of cases) {
    await assert.rejects(read(t, 'file', content), (error: unknown) => {
      assert.ok(error instanceof UnreadableL2File)
      assert.match(error.message, message)
      return true
    })
  }
})

test('a recording may have as many bytes as the limit, and one more is refused with line, size and limit', async (t) => {
  const limit = 3_000_000
  const filled = (bytes: number) => lines[0].replace('{', `{"note": "${'x'.repeat(bytes - lines[0].length - 12)}", `)
  assert.equal(filled(limit).length, limit)
  const fits = `${filled(limit)}\n${lines[1]}`
  const { recordings } = await read(t, 'file', fits, { maxRecordingBytes: limit })
  assert.equal(recordings.length, 2)
  const tooLong = `${lines[0]}\n\n${filled(limit + 1)}\n${lines[2]}`
  const message = /file:3: the line has at least \d{7,} bytes, the limit of a recording is 3000000 bytes/
  for (const content of [tooLong, gzipSync(tooLong), gzipSync(`${lines[0]}\n\n${'x'.repeat(20_000_000)}`)]) {
    await assert.rejects(read(t, 'file', content, { maxRecordingBytes: limit }), message)
  }
})

test('a recording over many lines has the same limit', async (t) => {
  const limit = 200_000
  const spread = `{\n${'\n'.repeat(limit)}${pretty.slice(1)}`
  const message =
    /file: the recording over several lines has at least \d+ bytes, the limit of a recording is 200000 bytes/
  for (const content of [spread, gzipSync(spread)]) {
    await assert.rejects(read(t, 'file', content, { maxRecordingBytes: limit }), message)
  }
})

test('strings without an end, deep nesting and long lines without meaning are named in linear time', async (t) => {
  const cases: [string, RegExp][] = [
    [`${lines[0]}\n{"block_hash": 12345678901234567890, "a": "${'\\"'.repeat(500_000)}`, /file:2: is no whole JSON/],
    [
      `${lines[0]}\n{"block_hash": ${'['.repeat(500_000)}`,
      /file:2: expected JSON nested at most 256 deep, got more at/,
    ],
    [`{"block_hash":\n${'{"a":'.repeat(500_000)}`, /file: expected JSON nested at most 256 deep/],
    [`${lines[0]}\n${'\u0000'.repeat(8_000_000)}`, /file:2: is no whole JSON/],
  ]
  for (const [content, message] of cases) await assert.rejects(read(t, 'file', content), message)
})

test('the event loop gets turns while a file without recordings is read', async (t) => {
  let turns = 0
  let reading = true
  const turn = () => {
    turns++
    if (reading) setImmediate(turn)
  }
  setImmediate(turn)
  await assert.rejects(read(t, 'file', '\n'.repeat(300_000)), /is empty/)
  reading = false
  assert.ok(turns > 1, `${turns} turns`)
})

test('what is no regular file is named, and nothing waits for it', async (t) => {
  const directory = temporaryDirectory(t)
  const fifo = join(directory, 'fifo')
  execFileSync('mkfifo', [fifo])
  const socket = join(directory, 'socket')
  const server = createServer().listen(socket)
  await once(server, 'listening')
  t.after(() => void server.close())
  for (const [path, kind] of [
    [fifo, 'a FIFO'],
    [socket, 'a socket'],
    [directory, 'a directory'],
    ['/dev/zero', 'a device'],
  ]) {
    const expected = { name: 'UsageError', message: `cannot read ${path}: it is ${kind}; expected a regular file` }
    await assert.rejects(openL2File(path).recordings().next(), expected)
    assert.throws(() => readHead(path), expected)
    assert.throws(() => readGenesisFile(path), { message: `--genesis ${path}: ${expected.message}` })
  }
})

test('layer-2 files are detected from their content, even from the beginning alone', () => {
  for (const text of [
    pretty,
    lines.join('\n'),
    `  ${lines[0]}`,
    JSON.stringify({ jsonrpc: '2.0', result: toRpcJson(chain[0]) }),
  ]) {
    assert.ok(recogniseL2(bytesOf(text)))
    assert.ok(recogniseL2(bytesOf(text).subarray(0, 150)))
    assert.ok(recogniseL2(gzipSync(text)))
  }
  const large = gzipSync(lines.concat(makeBlock({ number: 9 }).transactionHashes.map(String)).join('\n'))
  assert.ok(recogniseL2(large.subarray(0, large.length - 40)), 'gzip cut off')
})

test('other files are not', () => {
  const genesis = JSON.stringify({ config: { chainId: 1 }, alloc: {}, difficulty: '0x1', parentHash: '0x0' })
  for (const bytes of [
    bytesOf(genesis),
    gzipSync(genesis),
    bytesOf(''),
    Buffer.from([0xf9, 2, 1]),
    Buffer.from([0x1f, 0x8b, 0]),
    bytesOf('["block_hash"]'),
  ]) {
    assert.ok(!recogniseL2(bytes))
  }
})

test('the bytes of the file are counted as they are read, packed as they are', async (t) => {
  for (const content of [Buffer.from(lines.join('\n')), gzipSync(lines.join('\n'))]) {
    let bytes = 0
    const onRead = (count: number) => {
      bytes += count
    }
    await read(t, 'some.file', content, { onRead })
    assert.equal(bytes, content.length)
  }
})
