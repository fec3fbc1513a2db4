import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 as oracle } from 'viem'
import { createKeccak, KECCAK_KINDS } from '../../src/wasm/keccak.js'
import { INPUT_BYTES } from '../../src/wasm/keccakModule.js'
import { seededRandom } from '../support/random.js'

const toHex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
const EMPTY = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

for (const kind of KECCAK_KINDS) {
  const { keccak256, keccak256Into, input } = createKeccak(kind)

  test(`${kind} hashes nothing to the known value`, () => {
    assert.equal(toHex(keccak256(new Uint8Array(0))), EMPTY)
  })

  test(`${kind} equals the reference at every length up to six blocks`, () => {
    const random = seededRandom(41)
    for (let length = 0; length <= 6 * 136; length++) {
      const bytes = random.bytes(length)
      assert.equal(toHex(keccak256(bytes)), oracle(bytes), `${length} bytes`)
      const out = new Uint8Array(40).fill(0xee)
      keccak256Into(bytes, out, 5)
      assert.equal(toHex(out), `0x${'ee'.repeat(5)}${oracle(bytes).slice(2)}eeeeee`)
    }
  })

  test(`${kind} equals the reference around the bytes that are taken at a time`, () => {
    const random = seededRandom(42)
    const long = random.bytes(3 * INPUT_BYTES + 300)
    for (const whole of [1, 2, 3]) {
      for (const more of [-137, -136, -1, 0, 1, 134, 135, 136, 137]) {
        const bytes = long.subarray(0, whole * INPUT_BYTES + more)
        assert.equal(toHex(keccak256(bytes)), oracle(bytes), `${bytes.length} bytes`)
      }
    }
    assert.equal(toHex(keccak256(new Uint8Array(0))), EMPTY, 'nothing is left of the long ones')
  })

  test(`${kind} hashes what was written to its input, of any length`, () => {
    const random = seededRandom(44)
    for (const length of [0, 1, 31, 32, 135, 136, 137, 532, 2000, INPUT_BYTES - 1, INPUT_BYTES]) {
      const bytes = random.bytes(length)
      input.bytes.set(bytes)
      const out = new Uint8Array(40).fill(0xee)
      input.hashInto(length, out, 5)
      assert.equal(toHex(out), `0x${'ee'.repeat(5)}${oracle(bytes).slice(2)}eeeeee`, `${length} bytes`)
    }
    assert.equal(input.bytes.length, INPUT_BYTES)
  })

  test(`${kind} reads a view that begins in the middle of its buffer, and keeps no part of it`, () => {
    const whole = seededRandom(43).bytes(1000)
    const view = whole.subarray(333, 999)
    const hash = keccak256(view)
    assert.equal(toHex(hash), oracle(view))
    assert.equal(toHex(keccak256(whole.subarray(1, 33))), oracle(whole.subarray(1, 33)))
    assert.equal(toHex(hash), oracle(view), 'a hash is not overwritten by the next')
    assert.equal(hash.length, 32)
    assert.equal(hash.constructor, Uint8Array)
  })
}
