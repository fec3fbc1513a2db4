import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { EMPTY_BYTES, padLeft } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import type { TrieBlock } from '../../src/store/state/stateTrieTable.js'
import { RecordedTrieTable } from '../../src/store/state/trieHistory.js'
import { addDeletionHints } from '../../src/trie/deletionHints.js'
import { MissingTrieNodes, type StateKeys } from '../../src/trie/missingNodes.js'
import { NodeSet } from '../../src/trie/nodeSet.js'
import { unknownStateHead } from '../../src/trie/partialState.js'
import { createStateRoot, type StateRoot } from '../../src/trie/stateRoot.js'
import type { TouchedAccount } from '../../src/trie/touchedAccount.js'
import { contentOf } from '../support/chains/trieContent.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A state that begins with its root alone and follows blocks by proofs, against one that is complete. */

const addressOf = (n: number) => keccak256(Uint8Array.of(n)).slice(12)
const slotOf = (n: number) => padLeft(Uint8Array.of(n), 32)
const CODE_HASH = keccak256(Uint8Array.of(1))
const ACCOUNTS = 60
const SLOTS = 60

function openTrie(t: TestContext, nodes?: NodeSet) {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const table = new RecordedTrieTable(db)
  const open = () => createStateRoot(table, 2 ** 20, { nodes })
  const inTransaction = (write: () => void) => {
    db.exec('BEGIN IMMEDIATE')
    write()
    db.exec('COMMIT')
  }
  return { table, open, inTransaction, content: () => contentOf(topOf(table.head()!.top), table.read, true) }
}

const topOf = (hex: string) => (hex === '0x' ? undefined : parseHex(hex))
const blockOf = (number: number): TrieBlock => ({ number, hash: formatData(padLeft(Uint8Array.of(number), 32)) })

/** Existing accounts and their slots. */
type Model = Map<number, Set<number>>

/** Changes of a block with many deletions, made in the model too. */
function touchSome(model: Model, random: SeededRandom): TouchedAccount[] {
  const numbers = new Set(Array.from({ length: 1 + random.below(5) }, () => random.below(ACCOUNTS)))
  const deleteOf = 2 + random.below(6)
  for (const n of model.keys()) if (random.below(30) === 0) numbers.add(n)
  return Array.from(numbers, (n) => {
    const address = addressOf(n)
    const held = model.get(n)
    if (random.below(deleteOf) === 0) {
      model.delete(n)
      return { address, account: null, cleared: random.below(2) === 0, slots: [] }
    }
    const account = {
      ...{ nonce: BigInt(random.below(300)), balance: BigInt(random.below(2 ** 30)) ** 3n },
      codeHash: random.below(3) === 0 ? CODE_HASH : EMPTY_CODE_HASH,
    }
    const cleared = held === undefined || random.below(10) === 0
    const slots = cleared ? new Set<number>() : new Set(held)
    const changed = new Map<number, Uint8Array>()
    for (const slot of slots) if (random.below(deleteOf) === 0) changed.set(slot, EMPTY_BYTES)
    for (let i = random.below(5); i > 0; i--) {
      const value =
        random.below(5) === 0
          ? EMPTY_BYTES
          : Uint8Array.from([1 + random.below(255), ...random.bytes(random.below(32))])
      changed.set(random.below(SLOTS), value)
    }
    for (const [slot, value] of changed) {
      if (value.length === 0) slots.delete(slot)
      else slots.add(slot)
    }
    model.set(n, slots)
    return { address, account, cleared, slots: Array.from(changed, ([slot, value]) => ({ slot: slotOf(slot), value })) }
  })
}

function addProofs(nodes: NodeSet, root: StateRoot, keys: readonly StateKeys[]): void {
  for (const { address, slots } of keys) {
    const proof = root.prove(address, slots)
    for (const rlp of [...proof.nodes, ...proof.slots.flatMap((slot) => slot.nodes)]) nodes.add(rlp)
  }
}

const keysOf = (touched: readonly TouchedAccount[]): StateKeys[] =>
  touched.map(({ address, slots }) => ({ address, slots: slots.map(({ slot }) => slot) }))

/** Updates the partial state by proofs from the complete one, which it updates too. Returns what was needed. */
function update(partial: StateRoot, nodes: NodeSet, full: StateRoot, touched: readonly TouchedAccount[]) {
  const needed = { before: 0, after: 0 }
  let root: Uint8Array | undefined
  for (;;) {
    try {
      const found = partial.update(touched)
      root ??= full.update(touched)
      assert.equal(formatData(found), formatData(root))
      return needed
    } catch (error) {
      if (!(error instanceof MissingTrieNodes)) throw error
      assert.throws(() => partial.commit(), MissingTrieNodes)
      partial.discard()
      if (error.before.length > 0) {
        assert.equal(needed.before++, 0, 'asked twice for the state before')
        assert.equal(root, undefined)
        addProofs(nodes, full, error.before)
      } else {
        assert.ok(error.after.length > 0)
        assert.equal(needed.after++, 0, 'asked twice for the state after')
        root = full.update(touched)
        const after = new NodeSet()
        addProofs(after, full, error.after)
        addDeletionHints(nodes, { nodes: after, stateRoot: root, keys: error.after })
      }
    }
  }
}

const everything = (): StateKeys[] =>
  Array.from({ length: ACCOUNTS }, (_, n) => ({
    address: addressOf(n),
    slots: Array.from({ length: SLOTS }, (_, slot) => slotOf(slot)),
  }))

test('a state that begins with its root alone follows blocks, discarded and removed ones too', (t) => {
  const sums = { blocks: 0, before: 0, after: 0, discarded: 0, unwound: 0 }
  for (let seed = 1; seed <= 6; seed++) {
    const random = seededRandom(seed)
    const nodes = new NodeSet()
    const [fullTrie, partialTrie] = [openTrie(t), openTrie(t, nodes)]
    const full = fullTrie.open()
    let model: Model = new Map()
    for (let i = 0; i < 30; i++) full.note(touchSome(model, random))
    fullTrie.inTransaction(() => {
      full.save()
      fullTrie.table.setHead({ ...fullTrie.table.head()!, block: blockOf(0) })
      fullTrie.table.clear()
    })
    partialTrie.inTransaction(() => partialTrie.table.setHead(unknownStateHead(full.root(), blockOf(0))))
    let partial = partialTrie.open()
    assert.equal(formatData(partial.root()), formatData(full.root()))
    let head = 0
    const models = [model]
    for (let step = 0; step < 80; step++) {
      model = new Map(Array.from(models[head], ([n, slots]) => [n, new Set(slots)]))
      const touched = touchSome(model, random)
      if (random.below(2) === 0) nodes.clear()
      const needed = update(partial, nodes, full, touched)
      sums.before += needed.before
      sums.after += needed.after
      for (const { address, slots } of keysOf(touched)) {
        assert.deepEqual(partial.prove(address, slots), full.prove(address, slots))
      }
      if (random.below(5) === 0) {
        partial.discard()
        full.discard()
        assert.equal(formatData(partial.root()), formatData(full.root()))
        sums.discarded++
        continue
      }
      if (random.below(4) === 0) {
        const keys = everything().filter(() => random.below(8) === 0)
        addProofs(nodes, full, keys)
        partial.learn(keys)
        assert.equal(formatData(partial.root()), formatData(full.root()))
        for (const { address, slots } of keys)
          assert.deepEqual(partial.prove(address, slots), full.prove(address, slots))
      }
      head++
      models.length = head
      models.push(model)
      for (const [trie, root] of [
        [fullTrie, full],
        [partialTrie, partial],
      ] as const) {
        trie.inTransaction(() => trie.table.recorded(blockOf(head), true, () => root.save()))
      }
      sums.blocks++
      if (random.below(8) === 0 && head > 1) {
        head -= 1 + random.below(Math.min(head - 1, 5))
        models.length = head + 1
        for (const [trie, root] of [
          [fullTrie, full],
          [partialTrie, partial],
        ] as const) {
          trie.inTransaction(() => trie.table.unwind(blockOf(head)))
          root.reset()
        }
        assert.equal(formatData(partial.root()), formatData(full.root()))
        sums.unwound++
      }
      if (random.below(10) === 0) partial = partialTrie.open()
    }
    addProofs(nodes, full, everything())
    partial.learn(everything())
    for (const trie of [fullTrie, partialTrie]) trie.inTransaction(() => (trie === fullTrie ? full : partial).save())
    assert.deepEqual(partialTrie.content(), fullTrie.content())
    assert.equal(partialTrie.table.extent().count, fullTrie.table.extent().count)
  }
  assert.ok(sums.blocks > 200 && sums.before > 60 && sums.after > 30, JSON.stringify(sums))
  assert.ok(sums.discarded > 20 && sums.unwound > 15, JSON.stringify(sums))
})
