import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { headerLength, LIST, STRING, stringLength, writeHeader, writeString } from '../../../src/chain/eth/rlpBytes.js'
import { seededRandom } from '../../support/random.js'

const LENGTHS = [0, 1, 2, 31, 32, 33, 55, 56, 57, 255, 256, 257, 65_535, 65_536, 70_000, 2 ** 24 - 1, 2 ** 24]

test('strings are written as encodeRlp has them, of every length of the header', () => {
  const random = seededRandom(11)
  const strings: Uint8Array[] = LENGTHS.map((length) => new Uint8Array(length).fill(random.below(256)))
  for (const byte of [0, 1, 0x7f, 0x80, 0xff]) strings.push(Uint8Array.of(byte))
  for (let i = 0; i < 200; i++) strings.push(random.bytes(random.below(80)))
  for (const bytes of strings) {
    const expected = encodeRlp(bytes)
    assert.equal(stringLength(bytes), expected.length)
    const out = new Uint8Array(expected.length + 4).fill(0xee)
    assert.equal(writeString(out, 2, bytes), 2 + expected.length)
    assert.ok(Buffer.from(expected).equals(out.subarray(2, -2)), `${bytes.length} bytes`)
    assert.deepEqual([out[0], out[1], ...out.subarray(-2)], [0xee, 0xee, 0xee, 0xee])
  }
})

test('headers of lists and strings say their length', () => {
  for (const length of LENGTHS) {
    const list = encodeRlp([new Uint8Array(length)]).subarray(0, 12)
    const header = new Uint8Array(8)
    const inner = headerLength(length) + length
    assert.equal(writeHeader(header, 0, LIST, inner), headerLength(inner))
    if (length !== 1) {
      const expected = [...list.subarray(0, headerLength(inner))]
      assert.deepEqual([...header.subarray(0, headerLength(inner))], expected)
      writeHeader(header, 0, STRING, length)
      assert.deepEqual(
        [...header.subarray(0, headerLength(length))],
        [...list.subarray(headerLength(inner), headerLength(inner) + headerLength(length))],
      )
    }
  }
})
