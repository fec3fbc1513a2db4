import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { DecodeError, encodeListOf, encodeRlp } from '../../src/chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../../src/chain/eth/trie.js'
import {
  encodeBranch,
  encodeExtension,
  encodeLeaf,
  hashReference,
  NO_CHILD,
  toNibbles,
} from '../../src/chain/eth/trieNodes.js'
import { bytesToBigInt, EMPTY_BYTES, padLeft } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import { openScratchTrie } from '../../src/store/state/stateTrieTable.js'
import { addDeletionHints } from '../../src/trie/deletionHints.js'
import { MissingTrieNode, MissingTrieNodes } from '../../src/trie/missingNodes.js'
import { NodeSet } from '../../src/trie/nodeSet.js'
import { unknownStateHead } from '../../src/trie/partialState.js'
import { readAccountNode, readSlotNode } from '../../src/trie/readNodes.js'
import { createStateRoot } from '../../src/trie/stateRoot.js'
import { seededRandom } from '../support/random.js'

const addressOf = (n: number) => keccak256(Uint8Array.of(n)).slice(12)
const slotOf = (n: number) => padLeft(Uint8Array.of(n), 32)

/** A state, and the nodes of the proofs of all its accounts and slots. */
function createState(seed: number, count: number) {
  const random = seededRandom(seed)
  const { table } = openScratchTrie()
  const root = createStateRoot(table, 2 ** 20)
  const accounts = Array.from({ length: count }, (_, n) => ({
    ...{ address: addressOf(n), cleared: false },
    account: {
      nonce: BigInt(n),
      balance: bytesToBigInt(random.bytes(n % 12)),
      codeHash: n % 3 ? EMPTY_CODE_HASH : addressHash(n),
    },
    slots: Array.from({ length: n % 4 === 0 ? n : 0 }, (_, slot) => ({
      ...{ slot: slotOf(slot), value: Uint8Array.from([1 + random.below(255), ...random.bytes(random.below(32))]) },
    })),
  }))
  root.update(accounts)
  const rlp = accounts.flatMap(({ address, slots }) => {
    const proof = root.prove(
      address,
      slots.map(({ slot }) => slot),
    )
    return [...proof.nodes, ...proof.slots.flatMap((each) => each.nodes)]
  })
  return { root, accounts, rlp: [...new Map(rlp.map((node) => [formatData(node), node])).values()] }
}

const addressHash = (n: number) => keccak256(Uint8Array.of(n, n))

function setOf(rlp: readonly Uint8Array[]): NodeSet {
  const nodes = new NodeSet()
  for (const node of rlp) nodes.add(node)
  return nodes
}

test('accounts and slots are read from nodes, absent ones too', () => {
  const { root, accounts, rlp } = createState(1, 40)
  const nodes = setOf(rlp)
  assert.equal(nodes.size, rlp.length)
  for (const { address, account, slots } of accounts) {
    const { storageRoot, ...fields } = readAccountNode(nodes, root.root(), address)!
    assert.deepEqual(fields, account)
    for (const { slot, value } of slots) assert.deepEqual([...readSlotNode(nodes, storageRoot, slot)], [...value])
    if (slots.length === 0) assert.deepEqual(storageRoot, EMPTY_TRIE_ROOT)
  }
  for (let n = 100; n < 140; n++) {
    const { nodes: proof } = root.prove(addressOf(n), [])
    assert.equal(readAccountNode(setOf(proof), root.root(), addressOf(n)), undefined)
  }
  assert.equal(readAccountNode(nodes, EMPTY_TRIE_ROOT, addressOf(1)), undefined)
  assert.equal(readSlotNode(nodes, EMPTY_TRIE_ROOT, slotOf(1)).length, 0)
  nodes.clear()
  assert.deepEqual([nodes.size, nodes.sizeBytes], [0, 0])
  assert.throws(() => readAccountNode(nodes, root.root(), addressOf(1)), MissingTrieNode)
})

test('a node with any byte changed is never used', () => {
  const { root, accounts } = createState(2, 24)
  const stateRoot = root.root()
  let changed = 0
  for (const { address, slots } of accounts.filter((each) => each.slots.length > 0)) {
    const { slot } = slots[0]
    const proof = root.prove(address, [slot])
    const { storageRoot } = proof
    const rlp = [...proof.nodes, ...proof.slots[0].nodes]
    rlp.forEach((node, index) => {
      for (let at = 0; at < node.length; at += 5) {
        const other = node.slice()
        other[at] ^= 1 << (at & 7)
        const nodes = setOf(rlp.with(index, other))
        const read = () => {
          readAccountNode(nodes, stateRoot, address)
          readSlotNode(nodes, storageRoot, slot)
        }
        assert.throws(read, MissingTrieNode)
        changed++
      }
    })
    const { table } = openScratchTrie()
    table.setHead(unknownStateHead(stateRoot, { number: 1, hash: '0x' }))
    const nodes = new NodeSet()
    const partial = createStateRoot(table, 2 ** 20, { nodes })
    for (const node of rlp) {
      const other = node.slice()
      other[other.length - 1] ^= 1
      nodes.add(other)
    }
    const account = { nonce: 1n, balance: 1n, codeHash: EMPTY_CODE_HASH }
    const touched = [{ address, account, cleared: false, slots: [{ slot, value: Uint8Array.of(1) }] }]
    const expected = { before: [{ address, slots: [slot] }], after: [] }
    assert.throws(
      () => partial.update(touched),
      (error) => {
        assert.ok(error instanceof MissingTrieNodes)
        assert.deepEqual({ before: error.before, after: error.after }, expected)
        return true
      },
    )
    partial.discard()
    partial.learn([{ address, slots: [slot] }])
    assert.throws(() => partial.prove(address, [slot]), MissingTrieNode)
    assert.deepEqual(partial.root(), stateRoot)
  }
  assert.ok(changed > 500, `${changed}`)
})

const HASH = keccak256(Uint8Array.of(7))
const ADDRESS = addressOf(0)
const PATH = toNibbles(keccak256(ADDRESS))
const VALUE = encodeRlp([1, 2, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH])
const twoChildren = Array.from({ length: 16 }, (_, i) => (i < 2 ? hashReference(HASH) : NO_CHILD))
const leafOf = (value: Uint8Array) => encodeLeaf(PATH, value)

const MALFORMED: { readonly [what: string]: Uint8Array } = {
  'no bytes': EMPTY_BYTES,
  'bytes, not a list': encodeRlp(new Uint8Array(40)),
  'bytes after the node': Uint8Array.from([...leafOf(VALUE), 0]),
  'a list of three': encodeRlp([HASH, HASH, HASH]),
  'an empty list': encodeRlp([]),
  'a branch without children': encodeBranch(new Array(16).fill(NO_CHILD)),
  'a branch of one child': encodeBranch([hashReference(HASH), ...new Array(15).fill(NO_CHILD)]),
  'a branch with a value': encodeListOf([...twoChildren, encodeRlp(VALUE)]),
  'a child of 31 bytes': encodeBranch([encodeRlp(HASH.subarray(1)), ...twoChildren.slice(1)]),
  'a long node inside its parent': encodeBranch([encodeLeaf(PATH.subarray(1), VALUE), ...twoChildren.slice(1)]),
  'a path that is a list': encodeRlp([[HASH], VALUE]),
  'no path': encodeRlp([EMPTY_BYTES, VALUE]),
  'an unknown flag': encodeRlp([Uint8Array.from([0x40, ...keccak256(ADDRESS)]), VALUE]),
  'padding that is not zero': encodeRlp([Uint8Array.from([0x21, ...keccak256(ADDRESS)]), VALUE]),
  'a short leaf path': encodeLeaf(PATH.subarray(1), VALUE),
  'a long leaf path': encodeLeaf(Uint8Array.from([...PATH, 1]), VALUE),
  'a leaf without value': leafOf(EMPTY_BYTES),
  'a value that is a list': encodeRlp([Uint8Array.from([0x20, ...keccak256(ADDRESS)]), [1]]),
  'an extension without nibbles': encodeExtension(EMPTY_BYTES, hashReference(HASH)),
  'an extension without child': encodeExtension(PATH.subarray(0, 3), NO_CHILD),
  'an extension over the whole key': encodeExtension(PATH, hashReference(HASH)),
  'an extension over more than the key': encodeExtension(Uint8Array.from([...PATH, 1, 2]), hashReference(HASH)),
  'an extension over a leaf inside it': encodeExtension(
    PATH.subarray(0, 62),
    encodeLeaf(PATH.subarray(62), Uint8Array.of(1)),
  ),
  'an account that is bytes': leafOf(encodeRlp(HASH)),
  'an account of three fields': leafOf(encodeRlp([1, 2, EMPTY_TRIE_ROOT])),
  'a nonce of 9 bytes': leafOf(encodeRlp([2n ** 64n, 2, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH])),
  'a balance of 33 bytes': leafOf(encodeRlp([1, 2n ** 256n, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH])),
  'a nonce with a leading zero': leafOf(encodeRlp([Uint8Array.of(0, 1), 2, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH])),
  'a storage root of 31 bytes': leafOf(encodeRlp([1, 2, EMPTY_TRIE_ROOT.subarray(1), EMPTY_CODE_HASH])),
  'a code hash of no bytes': leafOf(encodeRlp([1, 2, EMPTY_TRIE_ROOT, EMPTY_BYTES])),
}

function partialOf(stateRoot: Uint8Array, nodes: NodeSet) {
  const { table, close } = openScratchTrie()
  table.setHead(unknownStateHead(stateRoot, { number: 1, hash: '0x' }))
  return { partial: createStateRoot(table, 2 ** 20, { nodes }), close }
}

const CHANGED = { account: { nonce: 3n, balance: 4n, codeHash: EMPTY_CODE_HASH }, cleared: false, slots: [] }

for (const [what, rlp] of Object.entries(MALFORMED)) {
  test(`a malformed node is an error: ${what}`, () => {
    const nodes = new NodeSet()
    const root = nodes.add(rlp)
    assert.throws(() => readAccountNode(nodes, root, ADDRESS), DecodeError)
    const { partial, close } = partialOf(root, nodes)
    assert.throws(() => partial.update([{ address: ADDRESS, ...CHANGED }]), DecodeError)
    assert.throws(() => partial.commit(), DecodeError)
    partial.discard()
    assert.throws(() => partial.learn([{ address: ADDRESS, slots: [] }]), DecodeError)
    partial.discard()
    assert.deepEqual(partial.root(), root)
    close()
    const proofs = { nodes, stateRoot: root, keys: [{ address: ADDRESS, slots: [slotOf(1)] }] }
    assert.throws(() => addDeletionHints(new NodeSet(), proofs), DecodeError)
  })
}

test('a malformed value of a slot, and nodes where they cannot be, are errors', () => {
  const path = toNibbles(keccak256(slotOf(1)))
  const values = [
    encodeRlp(new Uint8Array(33).fill(1)),
    Uint8Array.of(0),
    encodeRlp(Uint8Array.of(0, 1)),
    encodeRlp([1]),
  ]
  for (const value of [...values, Uint8Array.of(0x80), Uint8Array.of(0x81, 1), Uint8Array.of(1, 2)]) {
    const nodes = new NodeSet()
    const root = nodes.add(encodeLeaf(path, value))
    assert.throws(() => readSlotNode(nodes, root, slotOf(1)), DecodeError, formatData(value))
  }
  const nodes = new NodeSet()
  const leaf = nodes.add(encodeLeaf(path.subarray(2), encodeRlp(HASH)))
  const below = nodes.add(encodeExtension(path.subarray(0, 2), hashReference(leaf)))
  assert.throws(() => readSlotNode(nodes, below, slotOf(1)), /expected a branch below an extension/)
  // A node below 32 bytes is inside its parent.
  const short = nodes.add(encodeLeaf(path.subarray(60), Uint8Array.of(1)))
  const branch = nodes.add(encodeBranch(Array.from({ length: 16 }, () => hashReference(short))))
  const root = nodes.add(encodeExtension(path.subarray(0, 59), hashReference(branch)))
  assert.throws(() => readSlotNode(nodes, root, slotOf(1)), /expected at least 32 bytes/)
  assert.throws(() => nodes.add(new Uint8Array(533)), DecodeError)
})

test('whatever node is the root, reading and changing ends, and filling in keeps the root', () => {
  const random = seededRandom(5)
  const { rlp, accounts } = createState(3, 30)
  const counts = { read: 0, refused: 0, changed: 0 }
  for (let i = 0; i < 3000; i++) {
    const node = Uint8Array.from(rlp[random.below(rlp.length)])
    // Lengths of lists and paths are at the start.
    for (let n = random.below(3); n >= 0; n--) node[random.below(random.below(2) ? 4 : node.length)] = random.below(256)
    const nodes = setOf(rlp)
    const root = nodes.add(node)
    const { address } = accounts[random.below(accounts.length)]
    const isExpected = (error: unknown) => error instanceof DecodeError || error instanceof MissingTrieNode
    const { partial, close } = partialOf(root, nodes)
    try {
      readAccountNode(nodes, root, address)
      counts.read++
    } catch (error) {
      if (!isExpected(error)) throw error
      counts.refused++
    }
    try {
      partial.learn([{ address, slots: [slotOf(1)] }])
      assert.deepEqual(partial.root(), root)
      partial.update([{ address, ...CHANGED }])
      counts.changed++
    } catch (error) {
      if (!isExpected(error) && !(error instanceof MissingTrieNodes)) throw error
    }
    close()
  }
  assert.ok(counts.read > 100 && counts.refused > 1000 && counts.changed > 100, JSON.stringify(counts))
})
