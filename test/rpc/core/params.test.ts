import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidValue } from '../../../src/rpc/core/errors.js'
import * as params from '../../../src/rpc/core/params.js'
import { seededRandom } from '../../support/random.js'

function refuses(type: params.ValueType<unknown>, value: unknown, words: RegExp): void {
  assert.throws(
    () => type.decode(value, 'x'),
    (error: Error) => {
      assert.ok(error instanceof InvalidValue, String(error))
      assert.match(error.message, words)
      return true
    },
  )
}

test('a quantity of any size up to 256 bits is read as BigInt reads it', () => {
  const random = seededRandom(1)
  for (let i = 0; i < 500; i++) {
    const hex =
      Buffer.from(random.bytes(random.below(33)))
        .toString('hex')
        .replace(/^0+/, '') || '0'
    assert.equal(params.quantity.decode(`0x${hex}`, 'x'), BigInt(`0x${hex}`))
  }
})

test('a quantity has a prefix, digits, no leading zeros and at most 256 bits', () => {
  refuses(params.quantity, '12', /^x: expected a quantity with 0x prefix, got "12"$/)
  refuses(params.quantity, 12, /^x: expected a quantity such as "0x1b4", got 12$/)
  refuses(params.quantity, '0x', /hex digits/)
  refuses(params.quantity, '0x0g', /hex digits/)
  refuses(params.quantity, '0x00', /without leading zeros, got "0x00"/)
  refuses(params.quantity, '0x01', /without leading zeros/)
  refuses(params.quantity, `0x1${'0'.repeat(64)}`, /at most 256 bits/)
  refuses(params.quantity, '-0x1', /0x prefix/)
  refuses(params.quantity, '0x1 ', /hex digits/)
  assert.equal(params.quantity.decode('0x0', 'x'), 0n)
  assert.equal(params.quantity.decode(`0x${'f'.repeat(64)}`, 'x'), 2n ** 256n - 1n)
})

test('a gas amount has at most 64 bits', () => {
  assert.equal(params.quantity64.decode('0xffffffffffffffff', 'x'), 2n ** 64n - 1n)
  refuses(params.quantity64, '0x10000000000000000', /at most 64 bits/)
})

test('an index from 2^53 on is beyond all indexes', () => {
  assert.equal(params.index.decode('0x1fffffffffffff', 'x'), Number.MAX_SAFE_INTEGER)
  for (const value of ['0x20000000000000', '0x20000000000001', '0xffffffffffffffff', `0x${'f'.repeat(64)}`]) {
    assert.equal(params.index.decode(value, 'x'), params.BEYOND_ALL)
    assert.equal(params.blockNumberOrTag.decode(value, 'x'), params.BEYOND_ALL)
  }
  refuses(params.index, `0x1${'0'.repeat(64)}`, /at most 256 bits/)
})

test('data has a prefix and whole bytes, fixed data its length', () => {
  assert.deepEqual(params.data.decode('0x', 'x'), new Uint8Array(0))
  assert.deepEqual(params.data.decode('0xFf00', 'x'), Uint8Array.of(255, 0))
  refuses(params.data, '0xabc', /expected hex data such as 0x00ff, got "0xabc"/)
  refuses(params.data, 'ab', /with 0x prefix/)
  refuses(params.hash32, '0x12', /^x: expected 32-byte data, got "0x12"$/)
  refuses(params.address, `0x${'1'.repeat(42)}`, /20-byte data/)
})

test('a storage slot may be short, odd and have leading zeros', () => {
  assert.equal(Buffer.from(params.slot.decode('0x1', 'x')).toString('hex'), '1'.padStart(64, '0'))
  assert.equal(params.slot.decode('0x', 'x').length, 32)
  assert.equal(params.slot.decode(`0x${'0'.repeat(64)}`, 'x').length, 32)
  refuses(params.slot, `0x${'0'.repeat(65)}`, /at most 32 bytes/)
  refuses(params.slot, '0xasdf', /hex digits/)
})

test('a long value is cut short in the message', () => {
  refuses(params.hash32, `0x${'1'.repeat(5000)}`, /^x: expected 32-byte data, got "0x1+… \(5002 characters\)"$/)
})

test('a block parameter is a number or a tag', () => {
  assert.equal(params.blockNumberOrTag.decode('0x10', 'x'), 16)
  for (const tag of params.BLOCK_TAGS) assert.equal(params.blockNumberOrTag.decode(tag, 'x'), tag)
  refuses(params.blockNumberOrTag, '2', /with 0x prefix, or one of latest, earliest, pending, safe, finalized, got "2"/)
  refuses(params.blockNumberOrTag, 'Latest', /got "Latest"/)
  refuses(params.blockNumberOrTag, 16, /got 16/)
})

test('a block id is also a hash or an object with one of number and hash (EIP-1898)', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const bytes = new Uint8Array(32).fill(0xab)
  assert.deepEqual(params.blockId.decode(hash, 'x'), { hash: bytes, requireCanonical: false })
  assert.equal(params.blockId.decode({ blockNumber: '0x5' }, 'x'), 5)
  assert.equal(params.blockId.decode({ blockNumber: 'latest' }, 'x'), 'latest')
  assert.deepEqual(params.blockId.decode({ blockHash: hash, requireCanonical: true }, 'x'), {
    hash: bytes,
    requireCanonical: true,
  })
  refuses(params.blockId, {}, /either blockNumber or blockHash/)
  refuses(params.blockId, { blockHash: hash, blockNumber: '0x1' }, /either blockNumber or blockHash/)
  refuses(params.blockId, { blockHash: hash, requireCanonical: 'yes' }, /x\.requireCanonical: expected true or false/)
  refuses(params.blockId, { blockNumber: 5 }, /x\.blockNumber/)
})

test('where decimal numbers are taken, they are numbers or digits', () => {
  assert.equal(params.blockIdOrDecimal.decode(17, 'x'), 17)
  assert.equal(params.blockIdOrDecimal.decode('17', 'x'), 17)
  assert.equal(params.blockIdOrDecimal.decode('0x11', 'x'), 17)
  assert.equal(params.blockIdOrDecimal.decode('pending', 'x'), 'pending')
  for (const large of [2 ** 53, Number.MAX_VALUE, '9007199254740992', '9'.repeat(78), '0x20000000000000']) {
    assert.equal(params.blockIdOrDecimal.decode(large, 'x'), params.BEYOND_ALL)
  }
  for (const wrong of [-1, 1.5, '1.5', '-1', '', '9'.repeat(79), Number.NaN, true]) {
    refuses(
      params.blockIdOrDecimal,
      wrong,
      /^x: expected a block number in hex such as "0x1b4" or in decimal such as 436/,
    )
  }
})

test('arrays and objects name the place of what is wrong in them', () => {
  const type = params.objectOf({ topics: params.arrayOf(params.hash32), from: params.maybe(params.address) })
  refuses(type, { topics: [`0x${'00'.repeat(32)}`, '0x12'] }, /^x\.topics\[1\]: expected 32-byte data, got "0x12"$/)
  refuses(type, {}, /^x\.topics: missing$/)
  refuses(type, [], /^x: expected an object, got an array of 0$/)
  refuses(type, { topics: 'a' }, /^x\.topics: expected an array, got "a"$/)
  assert.deepEqual(type.decode({ topics: [], from: null, other: 1 }, 'x'), { topics: [], from: undefined })
  assert.deepEqual(type.schema.required, ['topics'])
})

test('a member that the prototype has is not one of the object', () => {
  const type = params.objectOf({ constructor: params.maybe(params.text) })
  assert.equal(type.decode({}, 'x').constructor, undefined)
})

test('an optional parameter takes its fallback for null and for nothing', () => {
  const param = params.optional('flag', params.boolean, 'A flag.', true)
  assert.equal(param.decode(undefined, ''), true)
  assert.equal(param.decode(null, ''), true)
  assert.equal(param.decode(false, ''), false)
  assert.throws(() => param.decode('no', ''), /^InvalidValue: flag: expected true or false, got "no"$/)
})

test('schemas accept what decoders accept', () => {
  const random = seededRandom(2)
  const alphabet = '0x019afAFg'
  for (const type of [params.quantity, params.quantity64, params.data, params.hash32, params.slot]) {
    const pattern = new RegExp(type.schema.pattern as string)
    for (let i = 0; i < 2000; i++) {
      const length = random.below(3) === 0 ? 64 : random.below(20)
      const value = `0x${Array.from({ length }, () => alphabet[random.below(alphabet.length)]).join('')}`
      let accepted = true
      try {
        type.decode(value, 'x')
      } catch {
        accepted = false
      }
      assert.equal(accepted, pattern.test(value), `${type.schema.title} ${value}`)
    }
  }
})
