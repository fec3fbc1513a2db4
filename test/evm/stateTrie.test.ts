import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { createStateTrie } from '../../src/evm/stateTrie.js'
import { EMPTY_BYTES } from '../../src/lib/bytes.js'
import { keccak256 } from '../../src/lib/crypto.js'
import { formatData } from '../../src/lib/hex.js'
import { seededRandom } from '../support/random.js'

test('the state trie has the root of a Merkle Patricia trie after every change', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = seededRandom(seed)
    const trie = createStateTrie()
    const oracle = new MerklePatriciaTrie()
    // Few keys, so that removals, replacements and removals of what is not there all happen.
    const keys = Array.from({ length: 60 }, (_, i) => keccak256(Uint8Array.of(seed, i)))
    for (let step = 0; step < 400; step++) {
      const key = keys[random.below(keys.length)]
      const value = random.below(3) === 0 ? EMPTY_BYTES : random.bytes(1 + random.below(60))
      trie.put(key, value)
      if (value.length === 0) await oracle.del(key)
      else await oracle.put(key, value)
      // Not at each step, so that several changes are hashed at once.
      if (random.below(4) === 0)
        assert.equal(formatData(trie.root()), formatData(oracle.root()), `seed ${seed}, step ${step}`)
    }
    for (const key of keys) {
      trie.put(key, EMPTY_BYTES)
      await oracle.del(key)
    }
    assert.equal(formatData(trie.root()), formatData(oracle.root()))
  }
})

test('keys that share long prefixes split and join extensions', async () => {
  const random = seededRandom(99)
  const trie = createStateTrie()
  const oracle = new MerklePatriciaTrie()
  const keys = Array.from({ length: 40 }, () => {
    const key = new Uint8Array(32).fill(0x11)
    key[random.below(32)] = random.below(256)
    key[31] = random.below(256)
    return key
  })
  for (let step = 0; step < 800; step++) {
    const key = keys[random.below(keys.length)]
    const value = random.below(2) === 0 ? EMPTY_BYTES : random.bytes(1 + random.below(4))
    trie.put(key, value)
    if (value.length === 0) await oracle.del(key)
    else await oracle.put(key, value)
    assert.equal(formatData(trie.root()), formatData(oracle.root()), `step ${step}`)
  }
})
