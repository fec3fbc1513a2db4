import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { toEventHash, toFunctionSelector } from 'viem'
import { InvalidSignatureFile, readSignatureFile } from '../../../src/decoding/signatures/signatureFile.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

function write(t: TestContext, text: string | Buffer): string {
  const path = join(temporaryDirectory(t), 'signatures')
  writeFileSync(path, text)
  return path
}

const TRANSFER = 'transfer(address,uint256)'
const EVENT = 'Transfer(address,address,uint256)'
const NONE = { malformed: 0, notCanonical: 0, wrongHash: 0, tooMany: 0 }

test('reads lines, CSV and JSON to the same signatures', (t) => {
  const [selector, topic] = [toFunctionSelector(TRANSFER), toEventHash(EVENT)]
  const record = (id: number, text: string, hash: string) => `${id},2016-07-09T03:58:28Z,"${text}",${hash},"a""b,"`
  const contents = [
    `${selector} ${TRANSFER}\n${topic} ${EVENT}\n`,
    `\n${selector.slice(2).toUpperCase()}\t${TRANSFER}\r\n\r\n${topic}: ${EVENT}`,
    `id,created_at,text_signature,hex_signature,bytes_signature\n${record(1, TRANSFER, selector)}\n${record(2, EVENT, topic)}\n`,
    `id,text_signature,hex_signature\n1,"${TRANSFER}",${selector}\n1,"${EVENT}",${topic}`,
    JSON.stringify({ function: { [selector]: [TRANSFER] }, event: { [topic]: EVENT } }),
    JSON.stringify({
      ok: true,
      result: {
        function: { [selector]: [{ name: TRANSFER, filtered: false }], '0x12345678': null },
        event: { [topic]: [{ name: EVENT }] },
      },
    }),
  ]
  for (const content of contents) {
    const { signatures, refused, duplicates } = readSignatureFile(write(t, content))
    assert.deepEqual([signatures.function.texts, signatures.event.texts], [[TRANSFER], [EVENT]], content)
    assert.deepEqual([signatures.function.keys, signatures.event.keys], [[0xa9059cbb], [0xddf252ad]])
    assert.deepEqual([refused, duplicates], [NONE, 0], content)
  }
})

test('sorts by selector, drops duplicates, and agrees with viem about each hash', (t) => {
  const random = seededRandom(1)
  const texts = Array.from({ length: 500 }, (_, i) => `f${i % 400}(${['', 'uint256', 'address,bytes32[]'][i % 3]})`)
  const lines = texts.map((text) => `${toFunctionSelector(text)} ${text}`)
  const shuffled = lines.map((line) => ({ line, at: random.below(2 ** 30) })).sort((a, b) => a.at - b.at)
  const { signatures, duplicates } = readSignatureFile(write(t, shuffled.map(({ line }) => line).join('\n')))
  const unique = [...new Set(texts)]
  const keyOf = (text: string) => Number(toFunctionSelector(text))
  const expected = unique.sort((a, b) => keyOf(a) - keyOf(b))
  assert.deepEqual(signatures.function.texts, expected)
  assert.deepEqual(signatures.function.keys, expected.map(keyOf))
  assert.equal(duplicates, 500 - unique.length)
})

test('counts what it refuses by reason', (t) => {
  const good = `${toFunctionSelector(TRANSFER)} ${TRANSFER}`
  const alias = 'f(uint)'
  const lines = [
    good,
    `0xdeadbeef ${TRANSFER}`, // wrong hash
    `${toEventHash(EVENT).slice(0, -1)}0 ${EVENT}`, // wrong at the end
    `${toFunctionSelector(TRANSFER)} <script>alert(1)</script>`,
    `${toFunctionSelector(TRANSFER)} f(uint)`,
    `0xa9059c ${TRANSFER}`, // 3 bytes
    'nonsense',
    `${toFunctionSelector(TRANSFER)} ${'x'.repeat(5000)}(uint256)`,
    `${toFunctionSelector(alias)} ${alias}`,
    `0xa9059cbb \u202e${TRANSFER}`,
  ]
  const { signatures, refused } = readSignatureFile(write(t, lines.join('\n')))
  assert.deepEqual(signatures.function.texts, [TRANSFER])
  assert.deepEqual(refused, { ...NONE, wrongHash: 2, notCanonical: 4, malformed: 3 })
  const json = { function: { '0xa9059cbb': [TRANSFER, 7, 'f()'], x: 'f()' } }
  assert.deepEqual(readSignatureFile(write(t, JSON.stringify(json))).refused, {
    ...NONE,
    wrongHash: 1,
    malformed: 2,
  })
})

test('lines longer than a chunk, and lines across the end of a chunk', (t) => {
  const good = `${toFunctionSelector(TRANSFER)} ${TRANSFER}\n`
  const lengths = [1500, 1536, 1537, 5000, 2 ** 20 - 30, 2 ** 20, 2 ** 20 + 1600, 3 * 2 ** 20]
  for (const length of lengths) {
    const path = write(t, `${'x'.repeat(length)}\n${good}`)
    const { signatures, refused } = readSignatureFile(path)
    assert.deepEqual(signatures.function.texts, [TRANSFER], String(length))
    assert.deepEqual(refused, { ...NONE, malformed: 1 }, String(length))
  }
  const many = Array.from({ length: 60_000 }, (_, i) => `f${i}(uint256)`)
  const text = many.map((each) => `${toFunctionSelector(each)} ${each}\n`).join('')
  assert.ok(text.length > 1.5 * 2 ** 20)
  assert.deepEqual(new Set(readSignatureFile(write(t, text)).signatures.function.texts), new Set(many))
})

test('refuses files beyond the limits and without a signature', (t) => {
  const limits = { maxBytes: 1000, maxJsonBytes: 500, maxEntries: 3 }
  const line = `${toFunctionSelector(TRANSFER)} ${TRANSFER}\n`
  const cases: [content: string | Buffer, message: RegExp][] = [
    ['', /found no signature \(0 entries malformed/],
    ['x\ny\n', /2 entries malformed/],
    ['x'.repeat(1001), /at most 1000 bytes, got 1001/],
    [`{${' '.repeat(600)}}`, /at most 500 bytes of JSON/],
    ['{"function": ', /invalid JSON/],
    [line.repeat(4), /at most 3 entries/],
    [Buffer.from([0, 255, 0, 10, 200]), /found no signature/],
  ]
  for (const [content, message] of cases) {
    assert.throws(
      () => readSignatureFile(write(t, content), limits),
      (error: Error) => error instanceof InvalidSignatureFile && message.test(error.message),
      String(message),
    )
  }
})
