import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { formatData } from '../../src/lib/hex.js'
import { findSiblingKeys } from '../../src/trie/siblingKeys.js'
import { seededRandom } from '../support/random.js'

const ADDRESS = new Uint8Array(20).fill(7)

function nibblesOf(key: Uint8Array): number[] {
  return [...formatData(keccak256(key)).slice(2)].map((digit) => Number.parseInt(digit, 16))
}

test('the keys that are found lead to the places', () => {
  const random = seededRandom(1)
  for (let i = 0; i < 40; i++) {
    const path = Uint8Array.from({ length: random.below(5) }, () => random.below(16))
    const [[slot], [account]] = [
      findSiblingKeys([{ address: ADDRESS, path }])!.map(({ address, slots }) => {
        assert.deepEqual(address, ADDRESS)
        assert.equal(slots[0].length, 32)
        return slots[0]
      }),
      findSiblingKeys([{ address: undefined, path }])!.map(({ address, slots }) => {
        assert.deepEqual(slots, [])
        assert.equal(address.length, 20)
        return address
      }),
    ]
    for (const key of [slot, account]) assert.deepEqual(nibblesOf(key).slice(0, path.length), [...path])
  }
})

test('a path that is too long is given up', () => {
  assert.equal(findSiblingKeys([{ address: ADDRESS, path: new Uint8Array(20).fill(5) }]), undefined)
})
