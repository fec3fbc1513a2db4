import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeRlp, type RlpInput } from '../../../src/chain/eth/rlp.js'
import { RlpWriter } from '../../../src/chain/eth/rlpWriter.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

/** Writes an input as `encodeRlp` takes it. */
function write(out: RlpWriter, input: RlpInput): void {
  if (typeof input === 'number') out.small(input)
  else if (typeof input === 'bigint') out.integer(input)
  else if (input instanceof Uint8Array) out.string(input)
  else {
    const begun = out.begin()
    for (const item of [...input].reverse()) write(out, item)
    out.end(begun)
  }
}

function randomInput(random: SeededRandom, depth: number): RlpInput {
  const kind = random.below(depth === 0 ? 3 : 5)
  if (kind === 0) return random.below(2 ** random.below(32))
  if (kind === 1) return BigInt(`0x0${Buffer.from(random.bytes(random.below(33))).toString('hex')}`)
  if (kind === 2) return random.bytes([0, 1, 20, 32, 55, 56, 300][random.below(7)])
  return Array.from({ length: random.below(30) }, () => randomInput(random, depth - 1))
}

test('writes what encodeRlp does, also beyond its first buffer', () => {
  const random = seededRandom(7928)
  let longest = 0
  for (let i = 0; i < 300; i++) {
    const input = randomInput(random, 4)
    const out = new RlpWriter()
    write(out, input)
    const expected = encodeRlp(input)
    longest = Math.max(longest, expected.length)
    assert.deepEqual(out.bytes(), expected)
  }
  assert.ok(longest > 0x1_0000, `${longest} bytes`)
})
