import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeRevertReason, MAX_REASON_BYTES } from '../../src/decoding/revertReason.js'
import { bigIntToFixedBytes, concatBytes } from '../../src/lib/bytes.js'
import { parseHex } from '../../src/lib/hex.js'
import { seededRandom } from '../support/random.js'

const word = (value: bigint) => bigIntToFixedBytes(value, 32)
const ERROR = parseHex('0x08c379a0')
const PANIC = parseHex('0x4e487b71')

function encodeError(text: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(text))
  const padding = new Uint8Array((32 - (bytes.length % 32)) % 32)
  return concatBytes(ERROR, word(32n), word(BigInt(bytes.length)), bytes, padding)
}

test('returns the text of Error(string), also of many bytes and none', () => {
  for (const text of ['user error', '', 'ü'.repeat(100)]) assert.equal(decodeRevertReason(encodeError(text)), text)
})

test('cuts a long reason off between two characters', () => {
  const long = decodeRevertReason(encodeError(`x${'ü'.repeat(2_000_000)}`))
  assert.equal(long, `x${'ü'.repeat((MAX_REASON_BYTES - 2) / 2)}…`)
  const longest = 'x'.repeat(MAX_REASON_BYTES)
  assert.equal(decodeRevertReason(encodeError(longest)), longest)
})

test('returns the meaning of a panic code, and the code of an unknown one', () => {
  assert.equal(decodeRevertReason(concatBytes(PANIC, word(1n))), 'assert(false)')
  assert.equal(decodeRevertReason(concatBytes(PANIC, word(0x11n))), 'arithmetic underflow or overflow')
  assert.equal(decodeRevertReason(concatBytes(PANIC, word(0x99n))), 'unknown panic code: 0x99')
})

test('returns no reason for custom errors, no data, and wrong lengths', () => {
  const cases = [
    new Uint8Array(0),
    parseHex('0x08c379'),
    parseHex('0xdeadbeef'),
    ERROR,
    PANIC,
    concatBytes(ERROR, word(32n)),
    concatBytes(ERROR, word(2n ** 256n - 1n), word(1n)),
    concatBytes(ERROR, word(32n), word(2n ** 255n), word(0n)),
    concatBytes(ERROR, word(32n), word(33n), word(0n)),
    concatBytes(ERROR, word(64n), word(0n)),
  ]
  for (const data of cases) assert.equal(decodeRevertReason(data), undefined)
})

test('never throws, whatever follows the selector', () => {
  const random = seededRandom(5)
  for (let i = 0; i < 5_000; i++) {
    const body = random.bytes(random.below(200))
    // Small numbers where offsets and lengths stand make them plausible.
    for (let at = 0; at < body.length; at++) if (at % 32 < 31 && random.below(10) > 0) body[at] = 0
    decodeRevertReason(concatBytes(random.below(2) ? ERROR : PANIC, body))
  }
})
