import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeFelt,
  encodeFelt,
  encodeShortString,
  FELT_PRIME,
  formatFelt,
  parseBareFelt,
  parseFelt,
  parseFeltOrDecimal,
} from '../../../src/chain/starknet/felt.js'
import { bytesToBigInt } from '../../../src/lib/bytes.js'
import { seededRandom } from '../../support/random.js'

const largest = FELT_PRIME - 1n

test('felts are read from 1 to 64 hex digits after 0x, in either case, with leading zeros', () => {
  assert.equal(parseFelt('0x0'), 0n)
  assert.equal(parseFelt('0XaB'), 171n)
  assert.equal(parseFelt(`0x${'1'.padStart(64, '0')}`), 1n)
  assert.equal(parseFelt(`0x${largest.toString(16)}`), largest)
})

test('anything else is no felt: no digits, 65 digits, no prefix, the prime itself', () => {
  for (const text of [
    '',
    '0x',
    '0xg',
    'ab',
    '12',
    '-0x1',
    ' 0x1',
    `0x${'1'.padStart(65, '0')}`,
    `0x${FELT_PRIME.toString(16)}`,
  ]) {
    assert.equal(parseFelt(text), undefined, text)
  }
})

test('state roots may lack their 0x, and digits alone are hex there', () => {
  assert.equal(parseBareFelt('010'), 16n)
  assert.equal(parseBareFelt('0x010'), 16n)
  assert.equal(parseBareFelt(''), undefined)
})

test('digits alone are decimal in signatures and calldata', () => {
  assert.equal(parseFeltOrDecimal('010'), 10n)
  assert.equal(parseFeltOrDecimal('0x010'), 16n)
  assert.equal(parseFeltOrDecimal(largest.toString()), largest)
  assert.equal(parseFeltOrDecimal(FELT_PRIME.toString()), undefined)
})

test('felts are written in lower case without leading zeros', () => {
  assert.equal(formatFelt(0n), '0x0')
  assert.equal(formatFelt(0x0abcn), '0xabc')
})

test('felts come back from their 32 bytes and from their hex', () => {
  const random = seededRandom(1)
  for (let i = 0; i < 500; i++) {
    const felt = bytesToBigInt(random.bytes(random.below(33))) % FELT_PRIME
    assert.equal(encodeFelt(felt).length, 32)
    assert.equal(decodeFelt(encodeFelt(felt)), felt)
    assert.equal(parseFelt(formatFelt(felt)), felt)
  }
})

test('short strings are the ASCII of at most 31 characters', () => {
  assert.equal(encodeShortString('SN_MAIN'), 0x534e5f4d41494en)
  assert.equal(encodeShortString(''), 0n)
  assert.throws(() => encodeShortString('x'.repeat(32)), RangeError)
  assert.throws(() => encodeShortString('é'), RangeError)
})
