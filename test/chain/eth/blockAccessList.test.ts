import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AccountAccess,
  type BlockAccessList,
  countAccesses,
  decodeBlockAccessList,
  encodeBlockAccessList,
  firstDifference,
} from '../../../src/chain/eth/blockAccessList.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { formatData } from '../../../src/lib/hex.js'

const word = (value: number) => {
  const bytes = new Uint8Array(32)
  bytes[31] = value
  return bytes
}

const accessOf = (byte: number, fields: Partial<AccountAccess> = {}): AccountAccess => ({
  address: new Uint8Array(20).fill(byte),
  storageChanges: [],
  storageReads: [],
  balanceChanges: [],
  nonceChanges: [],
  codeChanges: [],
  ...fields,
})

const LIST: BlockAccessList = [
  accessOf(1, {
    storageChanges: [{ slot: word(0), changes: [{ index: 0, value: Uint8Array.of(7) }] }],
    storageReads: [word(1), word(255)],
  }),
  accessOf(2, { balanceChanges: [{ index: 1, value: 0n }], nonceChanges: [{ index: 1, value: 300n }] }),
  accessOf(3, { codeChanges: [{ index: 2, value: Uint8Array.of(0, 1) }] }),
]

test('a block access list has integers without leading zeros, slots too', () => {
  const encoded = encodeBlockAccessList(LIST)
  // The address, one change [slot 0, [[0, 7]]], and reads of slots 1 and 255.
  assert.ok(formatData(encoded).includes(`94${'01'.repeat(20)}c6c580c3c28007c30181ff`))
  assert.deepEqual(decodeBlockAccessList(encoded), LIST)
  assert.equal(countAccesses(LIST), 6)
})

test('a list that is no access list is refused by its entry', () => {
  const decode = (change: (fields: (Uint8Array | never[])[]) => void) => {
    const fields: (Uint8Array | never[])[] = [new Uint8Array(20), [], [], [], [], []]
    change(fields)
    return () => decodeBlockAccessList(encodeRlp([fields]))
  }
  assert.doesNotThrow(decode(() => {}))
  assert.throws(
    decode((fields) => fields.pop()),
    /blockAccessList\[0\]: expected 6 items, got 5/,
  )
  assert.throws(
    decode((fields) => {
      fields[0] = new Uint8Array(19)
    }),
    /blockAccessList\[0\]\.address: expected 20 bytes, got 19/,
  )
  assert.throws(
    decode((fields) => {
      fields[2] = [word(1)] as never[]
    }),
    /blockAccessList\[0\]\.storageReads\[0\]: expected an integer without leading zeros/,
  )
})

test('the first difference of two lists names account, entry and both values', () => {
  const account = (byte: number) => `0x${byte.toString(16).padStart(2, '0').repeat(20)}`
  assert.equal(firstDifference(LIST, LIST), undefined)
  const poorer = LIST.with(1, { ...LIST[1], balanceChanges: [{ index: 1, value: 5n }] })
  assert.deepEqual(firstDifference(LIST, poorer), { entry: `${account(2)}: balance at 1`, expected: '0', actual: '5' })
  const unread = LIST.with(0, { ...LIST[0], storageReads: [word(255)] })
  assert.deepEqual(firstDifference(LIST, unread), {
    entry: `${account(1)}: read of slot ${formatData(word(1))}`,
    expected: 'the slot',
    actual: `${account(1)}: read of slot ${formatData(word(255))}`,
  })
  assert.deepEqual(firstDifference(LIST, LIST.slice(0, 2)), {
    entry: account(3),
    expected: 'the account',
    actual: 'the end of the list',
  })
  assert.deepEqual(firstDifference(LIST, [...LIST, accessOf(9)]), {
    entry: account(9),
    expected: 'none',
    actual: account(9),
  })
})
