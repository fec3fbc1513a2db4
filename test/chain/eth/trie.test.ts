import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { EMPTY_TRIE_ROOT, orderedTrieRoot } from '../../../src/chain/eth/trie.js'
import { encodeHexPrefix } from '../../../src/chain/eth/trieNodes.js'
import { formatData } from '../../../src/lib/hex.js'
import { seededRandom } from '../../support/random.js'

async function slowRoot(values: Uint8Array[]): Promise<string> {
  const trie = new MerklePatriciaTrie()
  for (let i = 0; i < values.length; i++) await trie.put(RLP.encode(i), values[i])
  return formatData(trie.root())
}

describe('orderedTrieRoot', () => {
  it('is the known root for no values', () => {
    assert.equal(formatData(EMPTY_TRIE_ROOT), '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
    assert.deepEqual(orderedTrieRoot([]), EMPTY_TRIE_ROOT)
  })

  it('equals a trie filled key by key, for random values at every border of the key forms', async () => {
    const random = seededRandom(1)
    for (const count of [1, 2, 3, 15, 16, 17, 18, 100, 127, 128, 129, 130, 144, 255, 256, 257, 300, 700]) {
      const values = Array.from({ length: count }, () => random.bytes(1 + random.below(120)))
      assert.equal(formatData(orderedTrieRoot(values)), await slowRoot(values), `${count} values`)
    }
  })

  it('equals a trie filled key by key when values are so short that nodes stand inside their parents', async () => {
    const random = seededRandom(2)
    for (let count = 1; count < 300; count += 7) {
      const values = Array.from({ length: count }, () => random.bytes(1 + random.below(3)))
      assert.equal(formatData(orderedTrieRoot(values)), await slowRoot(values), `${count} values`)
    }
  })
})

describe('encodeHexPrefix', () => {
  it('flags leaves and odd lengths as the examples of the Yellow Paper do', () => {
    const encoded = (nibbles: number[], isLeaf: boolean) =>
      formatData(encodeHexPrefix(Uint8Array.from(nibbles), isLeaf))
    assert.equal(encoded([1, 2, 3, 4, 5], false), '0x112345')
    assert.equal(encoded([0, 1, 2, 3, 4, 5], false), '0x00012345')
    assert.equal(encoded([15, 1, 12, 11, 8], true), '0x3f1cb8')
    assert.equal(encoded([0, 15, 1, 12, 11, 8], true), '0x200f1cb8')
    assert.equal(encoded([], true), '0x20')
  })
})
