import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BRACKET_BYTES, TextBuffer } from '../../../src/index/logs/textBuffer.js'
import { seededFractions } from './randomLogs.js'

test('joins texts of any length as an array does, with room for brackets', () => {
  const random = seededFractions(71)
  for (let round = 0; round < 300; round++) {
    const total = Math.floor(random() * 12)
    // Some texts are empty, and some are longer than all that is expected after the earlier ones.
    const texts = Array.from({ length: total }, () => {
      const length = random() < 0.2 ? 0 : 1 + Math.floor(random() ** 4 * 20_000)
      return 'x'.repeat(length)
    })
    const buffer = new TextBuffer(total)
    for (const [i, text] of texts.entries()) buffer.add(Buffer.from(text), i + 1)
    const joined = buffer.end()
    assert.equal(joined.toString(), texts.filter((text) => text !== '').join(','))
    assert.equal(joined.byteOffset, BRACKET_BYTES)
    assert.ok(joined.buffer.byteLength >= joined.length + 2 * BRACKET_BYTES)
  }
})

test('a text alone has a buffer of its size, and equal texts one with little room', () => {
  const alone = new TextBuffer(1)
  alone.add(Buffer.alloc(5_000, 'a'), 1)
  assert.equal(alone.end().buffer.byteLength, 5_002)
  const equal = new TextBuffer(20)
  for (let i = 1; i <= 20; i++) equal.add(Buffer.alloc(5_000, 'a'), i)
  const { length, buffer } = equal.end()
  assert.equal(length, 20 * 5_000 + 19)
  assert.ok(buffer.byteLength < length * 1.06)
})

test('a long first text does not make room for as many others as long', () => {
  const buffer = new TextBuffer(10_000)
  buffer.add(Buffer.alloc(1_000_000, 'a'), 1)
  const { length, buffer: whole } = buffer.end()
  assert.equal(length, 1_000_000)
  assert.ok(whole.byteLength < 10_000_000)
})
