import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RLP } from '@ethereumjs/rlp'
import {
  asFixed,
  asList,
  asSafeInteger,
  asUint,
  DecodeError,
  decodeRlp,
  encodeListOf,
  encodeRlp,
  measureRlp,
  type RlpInput,
  type RlpItem,
} from '../../../src/chain/eth/rlp.js'
import { parseHex } from '../../../src/lib/hex.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

type Nested = Uint8Array | Nested[]

function randomInput(random: SeededRandom, depth: number): Nested {
  if (depth === 0 || random.below(3) === 0) {
    return random.bytes([0, 1, 1, 2, 20, 32, 55, 56, 57, 256, 300, 70_000][random.below(depth > 2 ? 12 : 11)])
  }
  return Array.from({ length: random.below(8) }, () => randomInput(random, depth - 1))
}

const plain = (item: RlpItem): Nested => (item instanceof Uint8Array ? Uint8Array.from(item) : item.items.map(plain))

describe('encodeRlp and decodeRlp', () => {
  it('agree with another implementation on random nested input', () => {
    const random = seededRandom(3)
    for (let i = 0; i < 400; i++) {
      const input = randomInput(random, 4)
      const encoded = encodeRlp(input as RlpInput)
      assert.deepEqual(encoded, RLP.encode(input))
      assert.deepEqual(plain(decodeRlp(encoded)), input)
    }
  })

  it('write integers in their minimal form', () => {
    for (const value of [0, 1, 127, 128, 255, 256, 1024, 0xffffff, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(encodeRlp(value), RLP.encode(value))
      assert.deepEqual(encodeRlp(BigInt(value)), RLP.encode(value))
    }
    assert.throws(() => encodeRlp(-1), RangeError)
    assert.throws(() => encodeRlp(2 ** 53), RangeError)
  })

  it('keep the encoding of every list as it was', () => {
    const inner = encodeRlp([1, [2, new Uint8Array(60)]])
    const outer = encodeListOf([encodeRlp(7), inner])
    const item = decodeRlp(outer)
    assert.deepEqual(Uint8Array.from((asList(item, '')[1] as { raw: Uint8Array }).raw), inner)
    assert.deepEqual((item as { raw: Uint8Array }).raw, outer)
  })

  it('refuse what is not canonical, cut off or followed by more', () => {
    for (const hex of [
      '', // nothing
      '8105', // a small byte with a prefix
      'b800', // a long form of a short length
      `b837${'00'.repeat(55)}`, // the same at the border
      `b90038${'00'.repeat(56)}`, // a length with a leading zero
      'f800', // the same for a list
      'bf0100000000000000', // a length beyond 2^48
      '83aabb', // payload cut off
      'b8', // prefix cut off
      'c4820102', // list cut off
      'c28201', // an item that runs beyond its list
      '0102', // a second item
    ]) {
      assert.throws(() => decodeRlp(parseHex(hex)), DecodeError, hex)
    }
  })

  it('never fail in another way, or accept two encodings of the same, on random bytes', () => {
    const random = seededRandom(4)
    let accepted = 0
    for (let i = 0; i < 20_000; i++) {
      const bytes = random.bytes(1 + random.below(12))
      try {
        const item = decodeRlp(bytes)
        assert.deepEqual(encodeRlp(plain(item) as RlpInput), bytes)
        accepted++
      } catch (error) {
        assert.ok(error instanceof DecodeError, String(error))
      }
    }
    assert.ok(accepted > 50)
  })
})

describe('the readers of fields', () => {
  it('say the path, what was expected and what came', () => {
    assert.throws(() => asFixed(new Uint8Array(19), 20, 'header.miner'), {
      name: 'DecodeError',
      message: 'header.miner: expected 20 bytes, got 19',
    })
    assert.throws(() => asUint(Uint8Array.of(0, 1), 8, 'nonce'), {
      message: 'nonce: expected an integer without leading zeros, got 0x0001',
    })
    assert.throws(() => asUint(new Uint8Array(9).fill(1), 8, 'nonce'), /at most 64 bits/)
    assert.throws(() => asUint(decodeRlp(encodeRlp([1])), 8, 'nonce'), /expected bytes, got a list of 1/)
    assert.throws(() => asSafeInteger(new Uint8Array(7).fill(255), 'number'), /below 2\^53/)
    assert.throws(
      () => asList(decodeRlp(encodeRlp([1, 2])), 'log', 3, 3),
      /^DecodeError: log: expected 3 items, got 2$/,
    )
  })

  it('read integers of every length', () => {
    for (const value of [0n, 1n, 255n, 2n ** 40n, 2n ** 48n, 2n ** 64n - 1n, 2n ** 256n - 1n]) {
      assert.equal(asUint(decodeRlp(encodeRlp(value)), 32, ''), value)
    }
    assert.equal(asSafeInteger(decodeRlp(encodeRlp(Number.MAX_SAFE_INTEGER)), ''), Number.MAX_SAFE_INTEGER)
  })
})

describe('decodeRlp of hostile bytes', () => {
  /** Lists in each other, `depth` of them. */
  const nested = (depth: number) => {
    let bytes: Uint8Array = new Uint8Array(0)
    for (let i = 0; i < depth; i++) bytes = encodeListOf([bytes])
    return bytes
  }

  it('names the place where lists are nested more than 32 deep, instead of overflowing the stack', () => {
    assert.doesNotThrow(() => decodeRlp(nested(32)))
    assert.throws(
      () => decodeRlp(nested(33)),
      /^DecodeError: rlp: expected lists nested at most 32 deep, got more at byte 32$/,
    )
    for (const depth of [2000, 20_000]) {
      assert.throws(() => decodeRlp(nested(depth)), /nested at most 32 deep, got more at byte \d+$/)
    }
  })

  it('counts depth along a branch, not over all of the item', () => {
    const wide = encodeListOf(Array.from({ length: 1000 }, () => nested(31)))
    assert.equal(asList(decodeRlp(wide), '').length, 1000)
  })

  it('takes no more items than it may', () => {
    const items = encodeListOf([Uint8Array.of(0xc2, 1, 2), Uint8Array.of(3)])
    assert.doesNotThrow(() => decodeRlp(items, 'rlp', 4))
    assert.throws(() => decodeRlp(items, 'rlp', 3), /^DecodeError: rlp: too many items for one block, from byte 4 on$/)
  })

  it('allocates nothing for a false length', () => {
    for (const prefix of ['0xfb40000000', '0xbb40000000', '0xfdffffffffffff', '0xf90fff', '0xfb7fffffff']) {
      assert.throws(() => decodeRlp(parseHex(prefix)), /expected \d+ bytes at byte \d+, got 0$/)
    }
  })
})

describe('measureRlp', () => {
  it('knows the extent from the prefix alone, and asks for more when that is cut off', () => {
    const list = encodeRlp([new Uint8Array(300)])
    assert.deepEqual(measureRlp(list.subarray(0, 3), 0), { isList: true, payload: 3, end: list.length })
    assert.equal(measureRlp(list.subarray(0, 2), 0), undefined)
    assert.equal(measureRlp(list, list.length), undefined)
    assert.deepEqual(measureRlp(Uint8Array.of(9, 0x05), 1), { isList: false, payload: 1, end: 2 })
  })
})
