import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeDataJson, formatData, parseHex } from '../../src/lib/hex.js'
import { seededRandom } from '../support/random.js'

test('bytes come back from their hex, in any case and with or without 0x', () => {
  const random = seededRandom(7)
  for (let i = 0; i < 500; i++) {
    const bytes = random.bytes(random.below(400))
    const text = formatData(bytes)
    for (const form of [text, text.slice(2), text.toUpperCase(), `0x${text.slice(2).toUpperCase()}`]) {
      assert.deepEqual(parseHex(form), bytes)
    }
  }
})

test('data is written as JSON as its text would be, whatever its length', () => {
  const random = seededRandom(9)
  for (const length of [0, 1, 31, 32, 4095, 0xffff, 0x1_0000, 0x1_0001, 0x4_0003]) {
    const bytes = random.bytes(length)
    assert.equal(Buffer.from(encodeDataJson(bytes)).toString(), JSON.stringify(formatData(bytes)))
  }
})

test('one character that is no digit is refused, wherever it is', () => {
  const random = seededRandom(8)
  // The last ones have the codes of digits in their lower bytes.
  const others = ['g', 'G', '/', ':', '@', '`', ' ', '\n', '\0', 'é', 'ÿ', 'İ', 'š', '\u4130', '😀']
  for (let i = 0; i < 2000; i++) {
    const text = formatData(random.bytes(1 + random.below(200))).slice(2)
    const at = random.below(text.length)
    const other = others[random.below(others.length)]
    const wrong = text.slice(0, at) + other + text.slice(at + 1)
    assert.throws(() => parseHex(wrong), TypeError, JSON.stringify(wrong))
    assert.throws(() => parseHex(`0x${wrong}`), TypeError)
  }
  for (const text of ['0x0', '0', 'abc', '0x0x', '0xx0']) assert.throws(() => parseHex(text), TypeError, text)
})
