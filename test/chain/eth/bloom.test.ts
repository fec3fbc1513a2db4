import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Bloom } from '@ethereumjs/vm'
import { addToBloom, bloomOf, createBloomMaker, orBloom } from '../../../src/chain/eth/bloom.js'
import { seededRandom } from '../../support/random.js'

describe('bloomOf', () => {
  it('holds no bit without logs', () => {
    assert.deepEqual(bloomOf([]), new Uint8Array(256))
  })

  it('equals another implementation on random logs', () => {
    const random = seededRandom(5)
    for (let i = 0; i < 30; i++) {
      const logs = Array.from({ length: random.below(12) }, () => ({
        address: random.bytes(20),
        topics: Array.from({ length: random.below(5) }, () => random.bytes(32)),
        data: random.bytes(random.below(64)),
      }))
      const theirs = new Bloom()
      for (const { address, topics } of logs) for (const entry of [address, ...topics]) theirs.add(entry)
      assert.deepEqual(bloomOf(logs), theirs.bitvector)
    }
  })
})

describe('createBloomMaker', () => {
  it('makes the same blooms, whether it remembers the entries or has to make room for others', () => {
    for (const capacity of [1, 16, 1024]) {
      const random = seededRandom(7)
      const makeBloom = createBloomMaker(capacity)
      const addresses = Array.from({ length: 20 }, () => random.bytes(20))
      // Those of zeros, and those that differ from an address in its length only.
      const topics: Uint8Array[] = [
        new Uint8Array(32),
        ...addresses.map((address) => Uint8Array.of(...address, ...new Uint8Array(12))),
      ]
      for (let i = 0; i < 100; i++) topics.push(random.bytes(32))
      for (let i = 0; i < 200; i++) {
        const logs = Array.from({ length: random.below(12) }, () => ({
          address: random.below(10) === 0 ? new Uint8Array(20) : addresses[random.below(addresses.length)],
          topics: Array.from({ length: random.below(5) }, () => topics[random.below(topics.length)]),
          data: random.bytes(random.below(64)),
        }))
        assert.deepEqual(makeBloom(logs), bloomOf(logs))
      }
    }
  })

  it('refuses what is no address or topic', () => {
    const log = { address: new Uint8Array(20), topics: [new Uint8Array(33)], data: new Uint8Array(0) }
    assert.throws(() => createBloomMaker()([log]), /expected an address or a topic, got 33 bytes/)
  })
})

describe('orBloom', () => {
  it('makes the bloom of two sets of entries from the bloom of each', () => {
    const random = seededRandom(6)
    const entries = Array.from({ length: 20 }, () => random.bytes(32))
    const blooms = [new Uint8Array(256), new Uint8Array(256), new Uint8Array(256)]
    entries.forEach((entry, index) => {
      addToBloom(blooms[index % 2], entry)
      addToBloom(blooms[2], entry)
    })
    orBloom(blooms[0], blooms[1])
    assert.deepEqual(blooms[0], blooms[2])
  })
})
