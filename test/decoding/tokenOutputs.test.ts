import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAbiParameters } from 'viem'
import {
  readTokenAddress,
  readTokenDecimals,
  readTokenFlag,
  readTokenInteger,
  readTokenText,
} from '../../src/decoding/tokenOutputs.js'
import { concatBytes, padLeft } from '../../src/lib/bytes.js'
import { parseHex } from '../../src/lib/hex.js'
import { seededRandom } from '../support/random.js'

const stringOf = (value: string) => parseHex(encodeAbiParameters([{ type: 'string' }], [value]))
const bytesOf = (value: Uint8Array) =>
  parseHex(encodeAbiParameters([{ type: 'bytes' }], [`0x${Buffer.from(value).toString('hex')}`]))
const word = (value: number) => padLeft(Uint8Array.of(value), 32)

test('a string, bytes32 and an empty text', () => {
  assert.equal(readTokenText(stringOf('Dai Stablecoin')), 'Dai Stablecoin')
  assert.equal(readTokenText(stringOf('Ünïcode 🪙')), 'Ünïcode 🪙')
  assert.equal(readTokenText(stringOf('')), '')
  assert.equal(readTokenText(concatBytes(Buffer.from('MKR'), new Uint8Array(29))), 'MKR')
  assert.equal(readTokenText(new Uint8Array(32)), '')
})

test('what is neither is null', () => {
  const cut = stringOf('a name that is longer than a word, and whose end is missing').subarray(0, 100)
  for (const output of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(33).fill(255), cut]) {
    assert.equal(readTokenText(output), null)
  }
})

test('random outputs are text or null, without control characters', () => {
  const random = seededRandom(9)
  for (let round = 0; round < 2_000; round++) {
    const output = random.below(2) ? bytesOf(random.bytes(random.below(700))) : random.bytes(random.below(100))
    const text = readTokenText(output)
    if (text === null) continue
    assert.ok([...text].length <= 257)
    assert.doesNotMatch(text, /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b]/u)
    assert.doesNotMatch(text, /\p{Surrogate}/u)
  }
})

test('a long text is cut at whole characters', () => {
  assert.equal(readTokenText(stringOf('x'.repeat(256))), 'x'.repeat(256))
  assert.equal(readTokenText(stringOf('x'.repeat(257))), `${'x'.repeat(256)}…`)
  assert.equal(readTokenText(stringOf('🪙'.repeat(10_000))), `${'🪙'.repeat(256)}…`)
})

test('integers, decimals, flags and addresses', () => {
  assert.equal(readTokenInteger(new Uint8Array(32).fill(255)), 2n ** 256n - 1n)
  assert.equal(readTokenInteger(new Uint8Array(31)), null)
  assert.equal(readTokenDecimals(word(18)), 18)
  assert.equal(readTokenDecimals(word(255)), 255)
  assert.equal(readTokenDecimals(padLeft(Uint8Array.of(1, 0), 32)), null)
  assert.equal(readTokenDecimals(new Uint8Array(0)), null)
  assert.deepEqual([word(1), word(2), word(0), new Uint8Array(0)].map(readTokenFlag), [true, false, false, false])
  const address = new Uint8Array(20).fill(7)
  assert.deepEqual(readTokenAddress(padLeft(address, 32)), address)
  assert.equal(readTokenAddress(new Uint8Array(32).fill(7)), null)
})
