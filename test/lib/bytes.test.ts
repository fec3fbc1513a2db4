import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigIntToBytes, bytesToBigInt, compareBytes, countZeroBytes, writeBigInt } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import { seededRandom } from '../support/random.js'

test('integers become their shortest bytes, and those the integers again', () => {
  const random = seededRandom(41)
  const values = [0n, 1n, 127n, 128n, 255n, 256n]
  for (let bits = 8n; bits <= 256n; bits++) values.push(2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n)
  for (let i = 0; i < 2000; i++) values.push(BigInt(formatData(Uint8Array.of(0, ...random.bytes(random.below(33))))))
  for (const value of values) {
    const hex = value === 0n ? '' : value.toString(16)
    const expected = `0x${hex.length % 2 ? '0' : ''}${hex}`
    const bytes = bigIntToBytes(value)
    assert.equal(formatData(bytes), expected)
    assert.equal(bytesToBigInt(bytes), value)
    if (bytes.length <= 32) {
      const out = new Uint8Array(40).fill(0xee)
      assert.equal(writeBigInt(out, 3, value), 3 + bytes.length)
      assert.deepEqual(
        out,
        new Uint8Array(40).fill(0xee).map((byte, i) => bytes[i - 3] ?? byte),
      )
    }
    if (value <= Number.MAX_SAFE_INTEGER) assert.equal(formatData(bigIntToBytes(Number(value))), expected)
  }
})

test('bytes of every length are the integer that their digits say', () => {
  const random = seededRandom(7)
  for (let length = 1; length <= 40; length++) {
    for (let i = 0; i < 20; i++) {
      const bytes = random.bytes(length)
      if (i % 4 === 0) bytes.fill(0, 0, random.below(length))
      assert.equal(bytesToBigInt(bytes), BigInt(formatData(bytes)))
    }
  }
})

test('bytes are compared as Buffer does', () => {
  const random = seededRandom(8)
  const some = Array.from({ length: 200 }, () => random.bytes(random.below(4)).map((byte) => byte & 3))
  for (const a of some) for (const b of some) assert.equal(Math.sign(compareBytes(a, b)), Buffer.compare(a, b))
})

test('zero bytes are counted at every length and place', () => {
  const random = seededRandom(43)
  for (let length = 0; length < 200; length++) {
    const bytes = random.bytes(length + 4).subarray(random.below(4))
    for (let i = 0; i < bytes.length; i++) if (random.below(3) === 0) bytes[i] = [0, 0, 1, 0x80, 0xff][random.below(5)]
    assert.equal(countZeroBytes(bytes), bytes.filter((byte) => byte === 0).length)
  }
})
