import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMerkleProof, createMPT, type MerklePatriciaTrie } from '@ethereumjs/mpt'
import { keccak256 } from '../../../src/chain/crypto.js'
import { unreachableNodes, verifyAccountProof, verifyStorageProof } from '../../../src/chain/eth/proof.js'
import { DecodeError, encodeListOf, encodeRlp } from '../../../src/chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import { encodeExtension, encodeLeaf, NO_CHILD, referenceTo, toNibbles } from '../../../src/chain/eth/trieNodes.js'
import { bigIntToFixedBytes, concatBytes, EMPTY_BYTES, trimLeft } from '../../../src/lib/bytes.js'
import { seededRandom } from '../../support/random.js'

const word = (value: number | bigint) => bigIntToFixedBytes(BigInt(value), 32)
const CODE_HASH = keccak256(Uint8Array.of(1))

interface Storage {
  trie: MerklePatriciaTrie
  root: Uint8Array
  slots: Map<number, Uint8Array>
}

/** A storage of `count` slots, by the oracle. */
async function makeStorage(seed: number, count: number): Promise<Storage> {
  const random = seededRandom(seed)
  const trie = await createMPT()
  const slots = new Map<number, Uint8Array>()
  for (let i = 0; i < count; i++) {
    const value = trimLeft(word(1 + random.below(2 ** 30)))
    slots.set(i, value)
    await trie.put(keccak256(word(i)), encodeRlp(value))
  }
  return { trie, root: trie.root(), slots }
}

const prove = async ({ trie }: Storage, slot: number) => createMerkleProof(trie, keccak256(word(slot)))

describe('proofs of the state', () => {
  it('finds the values of slots and shows that others are zero, as the oracle does', async () => {
    for (const count of [1, 2, 17, 300]) {
      const storage = await makeStorage(count, count)
      for (let slot = 0; slot < count + 20; slot++) {
        const proof = await createMerkleProof(storage.trie, keccak256(word(slot)))
        const value = verifyStorageProof({ storageRoot: storage.root, slot: word(slot), proof })
        assert.deepEqual(value, storage.slots.get(slot) ?? EMPTY_BYTES)
      }
    }
  })

  it('finds accounts, and shows that others do not exist', async () => {
    const trie = await createMPT()
    const address = (i: number) => bigIntToFixedBytes(BigInt(i), 20)
    for (let i = 0; i < 100; i++) {
      await trie.put(keccak256(address(i)), encodeRlp([i, BigInt(i) * 10n ** 18n, EMPTY_TRIE_ROOT, CODE_HASH]))
    }
    for (let i = 0; i < 120; i++) {
      const proof = await createMerkleProof(trie, keccak256(address(i)))
      const account = verifyAccountProof({ stateRoot: trie.root(), address: address(i), proof })
      const expected = {
        nonce: BigInt(i),
        balance: BigInt(i) * 10n ** 18n,
        storageRoot: EMPTY_TRIE_ROOT,
        codeHash: CODE_HASH,
      }
      assert.deepEqual(account, i < 100 ? expected : undefined)
    }
  })

  it('refuses every proof with a changed byte, and names the node', async () => {
    const storage = await makeStorage(3, 300)
    for (const slot of [5, 301]) {
      const proof = await prove(storage, slot)
      for (const [n, node] of proof.entries()) {
        for (let at = 0; at < node.length; at++) {
          const changed = proof.map((each) => each.slice())
          changed[n][at] ^= 1 << (at % 8)
          assert.throws(
            () => verifyStorageProof({ storageRoot: storage.root, slot: word(slot), proof: changed }),
            (error) => error instanceof DecodeError && error.path.startsWith(`proof[${n}]`),
          )
        }
      }
    }
  })

  it('refuses a missing, a further and an exchanged node, and the proof of another slot', async () => {
    const storage = await makeStorage(4, 300)
    const proof = await prove(storage, 7)
    const other = await prove(storage, 8)
    const wrong: [string, Uint8Array[], RegExp][] = [
      ['missing at the end', proof.slice(0, -1), /^proof\[\d\]: expected the node 0x.*, got the end of the proof$/],
      ['missing at the beginning', proof.slice(1), /^proof\[0\]: expected the node/],
      ['further', [...proof, proof[0]], /^proof\[\d\]: expected no node after the end of the path/],
      ['exchanged', [proof[1], proof[0], ...proof.slice(2)], /^proof\[0\]: expected the node/],
      ['of another slot', other, /^proof\[\d\]: expected the node/],
      ['none', [], /^proof\[0\]: expected the node/],
    ]
    for (const [name, nodes, message] of wrong) {
      const verify = () => verifyStorageProof({ storageRoot: storage.root, slot: word(7), proof: nodes })
      assert.throws(verify, (error) => error instanceof DecodeError && message.test(error.message), name)
    }
  })

  it('accepts no nodes, or the RLP of no bytes, for an empty storage, and nothing else', () => {
    const verify = (proof: Uint8Array[]) => verifyStorageProof({ storageRoot: EMPTY_TRIE_ROOT, slot: word(1), proof })
    assert.deepEqual(verify([]), EMPTY_BYTES)
    assert.deepEqual(verify([NO_CHILD]), EMPTY_BYTES)
    assert.throws(() => verify([Uint8Array.of(0xc0)]), /proof: expected no nodes of an empty trie, got 1/)
  })

  it('follows a node inside its parent, listed or not', () => {
    const slot = word(9)
    const nibbles = toNibbles(keccak256(slot))
    const leaf = encodeLeaf(nibbles.subarray(41), encodeRlp(Uint8Array.of(77)))
    const other = encodeLeaf(nibbles.subarray(41), encodeRlp(Uint8Array.of(78)))
    const children = Array.from({ length: 17 }, (_, i) => (i === nibbles[40] ? leaf : NO_CHILD))
    children[(nibbles[40] + 1) % 16] = other
    const branch = encodeListOf(children)
    const root = encodeExtension(nibbles.subarray(0, 40), referenceTo(branch))
    const verify = (proof: Uint8Array[]) => verifyStorageProof({ storageRoot: keccak256(root), slot, proof })
    assert.ok(leaf.length < 32 && branch.length >= 32)
    assert.deepEqual(verify([root, branch]), Uint8Array.of(77))
    assert.deepEqual(verify([root, branch, leaf]), Uint8Array.of(77))
    assert.throws(() => verify([root, branch, other]), /proof\[2\]: expected no node after the end/)
  })

  it('refuses nodes that have the right hash and are malformed', () => {
    const slot = word(9)
    const nibbles = toNibbles(keccak256(slot))
    const long = new Uint8Array(40).fill(1)
    const path = (flag: number, rest: Uint8Array) => concatBytes(Uint8Array.of(flag), rest)
    const key = keccak256(slot)
    const malformed: [string, Uint8Array, RegExp][] = [
      ['bytes', encodeRlp(long), /^proof\[0\]: expected a list/],
      ['3 items', encodeRlp([long, long, long]), /^proof\[0\]: expected 2 or 17 items, got 3/],
      ['18 items', encodeRlp(Array.from({ length: 18 }, () => key)), /^proof\[0\]: expected 2 to 17 items, got 18/],
      [
        'a branch with a value',
        encodeRlp(Array.from({ length: 17 }, () => key)),
        /^proof\[0\]\[16\]: .*without a value/,
      ],
      [
        'a short hash',
        encodeRlp([...new Array(16).fill(key.subarray(1)), EMPTY_BYTES]),
        /^proof\[0\]\[0\]: expected a hash/,
      ],
      ['a flag of 4', encodeRlp([path(0x40, key), long]), /^proof\[0\]\[0\]: expected a hex-prefix path/],
      ['padding', encodeRlp([path(0x21, key), long]), /^proof\[0\]\[0\]|^proof\[0\]: expected a path/],
      ['an even path with padding', encodeRlp([path(0x01, key), long]), /^proof\[0\]\[0\]: expected a hex-prefix path/],
      ['no path', encodeRlp([EMPTY_BYTES, long]), /^proof\[0\]\[0\]: expected a hex-prefix path/],
      ['an empty extension', encodeExtension(EMPTY_BYTES, referenceTo(long)), /extension of at least one nibble/],
      ['an extension to nothing', encodeExtension(nibbles.subarray(0, 60), NO_CHILD), /extension with a child/],
      ['an extension over the key', encodeExtension(nibbles, referenceTo(long)), /a path within 64 nibbles/],
      ['a short leaf', encodeLeaf(nibbles.subarray(1), long), /^proof\[0\]: expected a path within 64 nibbles/],
      ['a value of zero', encodeLeaf(nibbles, encodeRlp(EMPTY_BYTES)), /^value: expected a value other than zero/],
      ['leading zeros', encodeLeaf(nibbles, encodeRlp(Uint8Array.of(0, 1))), /^value: .*without leading zeros/],
      ['a value of 33 bytes', encodeLeaf(nibbles, encodeRlp(long.subarray(0, 33))), /^value: .*at most 256 bits/],
      ['a list as value', encodeLeaf(nibbles, encodeRlp([1])), /^value: expected bytes/],
      ['bytes after the node', concatBytes(encodeLeaf(nibbles, long), Uint8Array.of(1)), /nothing after the item/],
    ]
    for (const [name, node, message] of malformed) {
      const verify = () => verifyStorageProof({ storageRoot: keccak256(node), slot, proof: [node] })
      assert.throws(verify, (error) => error instanceof DecodeError && message.test(error.message), name)
    }
  })

  it('counts nodes that the root does not lead to, and none for missing nodes', async () => {
    const storage = await makeStorage(5, 50)
    const state = await createMPT()
    for (let i = 0; i < 30; i++) {
      await state.put(
        keccak256(word(i).subarray(12)),
        encodeRlp([1, i, i === 3 ? storage.root : EMPTY_TRIE_ROOT, CODE_HASH]),
      )
    }
    const storageProofs = await Promise.all([1, 2, 3].map((slot) => prove(storage, slot)))
    const stateProofs = await Promise.all(
      [3, 4, 5].map((i) => createMerkleProof(state, keccak256(word(i).subarray(12)))),
    )
    const nodes = [...stateProofs, ...storageProofs].flat()
    const root = state.root()
    assert.equal(unreachableNodes(nodes, root), 0)
    assert.equal(unreachableNodes([...nodes, NO_CHILD], root), 0)
    const leaf = nodes.at(-1)!
    assert.equal(
      unreachableNodes(
        nodes.filter((node) => node !== leaf),
        root,
      ),
      0,
    )
    const changed = leaf.slice()
    changed[changed.length - 1] ^= 1
    assert.equal(unreachableNodes([...nodes.filter((node) => node !== leaf), changed], root), 1)
    assert.equal(unreachableNodes([...nodes, Uint8Array.of(1, 2, 3)], root), 1)
    // Without the root's node nothing is reachable.
    const [top] = stateProofs[0]
    const rest = nodes.filter((node) => Buffer.compare(node, top) !== 0)
    assert.equal(unreachableNodes(rest, root), new Set(rest.map((node) => String(node))).size)
  })
})
