import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync, inflateSync } from 'node:zlib'
import { openL2File, recogniseL2, UnreadableL2File } from '../../../src/ingest/sources/starknetFile.js'
import { makeBlock, makeChain, toRpcJson } from '../../support/l2Blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

async function read(t: TestContext, name: string, content: string | Uint8Array) {
  const path = join(temporaryDirectory(t), name)
  writeFileSync(path, content)
  const recordings = []
  for await (const recording of openL2File(path).recordings()) recordings.push(recording)
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
    [Buffer.from([...bytesOf(lines[0]), 0xff]), /file: cannot be read/],
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

test('layer-2 files are told by their content, from their beginning alone too', () => {
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
