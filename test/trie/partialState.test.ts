import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../../src/chain/eth/trie.js'
import { EMPTY_BYTES, padLeft } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openScratchTrie, type TrieBlock } from '../../src/store/state/stateTrieTable.js'
import { RecordedTrieTable } from '../../src/store/state/trieHistory.js'
import { addDeletionHints } from '../../src/trie/deletionHints.js'
import { MissingTrieNode, MissingTrieNodes, type StateKeys } from '../../src/trie/missingNodes.js'
import { NodeSet } from '../../src/trie/nodeSet.js'
import { unknownStateHead } from '../../src/trie/partialState.js'
import { createStateRoot, hashAccounts, type StateRoot } from '../../src/trie/stateRoot.js'
import { hashUpdates } from '../../src/trie/stateUpdates.js'
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
  return {
    table,
    open,
    inTransaction,
    content: () => contentOf(topOf(table.head()!.top), (page) => table.read(page), true),
  }
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

/** A complete state of some accounts, and a partial one that knows its root. */
function createPair(t: TestContext, count = 40) {
  const [random, nodes] = [seededRandom(9), new NodeSet()]
  const [fullTrie, partialTrie] = [openTrie(t), openTrie(t, nodes)]
  const full = fullTrie.open()
  const model: Model = new Map()
  for (let i = 0; i < count; i++) full.note(touchSome(model, random))
  full.commit()
  partialTrie.inTransaction(() => partialTrie.table.setHead(unknownStateHead(full.root(), blockOf(1))))
  return { full, partial: partialTrie.open(), nodes, model }
}

const ACCOUNT = { nonce: 1n, balance: 2n, codeHash: EMPTY_CODE_HASH }
const VALUE = Uint8Array.of(5)

const sorted = (keys: readonly StateKeys[]) =>
  keys.map(({ address, slots }) => ({ address, slots: [...slots].sort(Buffer.compare) }))

/** What an update lacks. */
function missingOf(root: StateRoot, touched: readonly TouchedAccount[]) {
  try {
    root.update(touched)
  } catch (error) {
    root.discard()
    if (error instanceof MissingTrieNodes) return { before: sorted(error.before), after: error.after }
    throw error
  }
  return undefined
}

test('the missing nodes of an update are named by the keys that lead to them', (t) => {
  const { full, partial, nodes, model } = createPair(t)
  const [n, held] = [...model].find(([, each]) => each.size > 4)!
  const slots = [...held].slice(0, 2).map((each) => ({ slot: slotOf(each), value: VALUE }))
  const address = addressOf(n)
  const touched = { address, account: ACCOUNT, cleared: false, slots }
  const [wanted] = sorted([{ address, slots: slots.map(({ slot }) => slot) }])
  assert.deepEqual(missingOf(partial, [touched]), { before: [wanted], after: [] })
  // A storage that is cleared, or goes with its account, need not be known.
  const empty = { address, slots: [] }
  assert.deepEqual(missingOf(partial, [{ ...touched, cleared: true }]), { before: [empty], after: [] })
  assert.deepEqual(missingOf(partial, [{ ...touched, account: null }]), { before: [empty], after: [] })
  addProofs(nodes, full, [empty])
  assert.deepEqual(missingOf(partial, [touched]), { before: [wanted], after: [] })
  addProofs(nodes, full, [{ address, slots: [slots[0].slot] }])
  assert.deepEqual(missingOf(partial, [touched]), { before: [{ address, slots: [slots[1].slot] }], after: [] })
})

test('an update of changes that were hashed elsewhere ends at the first missing node', (t) => {
  const { full, partial, nodes } = createPair(t)
  const changes = () => hashUpdates([{ address: addressOf(3), account: ACCOUNT, cleared: true, slots: new Map() }])
  assert.throws(() => partial.apply(changes()), MissingTrieNode)
  assert.throws(() => partial.root(), MissingTrieNode)
  partial.discard()
  addProofs(nodes, full, [{ address: addressOf(3), slots: [] }])
  assert.deepEqual(partial.apply(changes()), full.apply(changes()))
})

test('a witness of a partial state is enough to change the accounts, or a node of it is not known', (t) => {
  const { full, partial, nodes, model } = createPair(t)
  const random = seededRandom(4)
  let known = 0
  for (let round = 0; round < 300; round++) {
    const accesses = Array.from(new Set(Array.from({ length: 3 }, () => random.below(ACCOUNTS))), (n) => ({
      ...{ address: addressOf(n), isDeleted: random.below(3) === 0 },
      slots: Array.from(model.get(n) ?? [], (slot) => ({ slot: slotOf(slot), isDeleted: random.below(2) === 0 })),
    }))
    const keys = accesses.map(({ address, slots }) => ({ address, slots: slots.map(({ slot }) => slot) }))
    if (round % 2 === 0) {
      addProofs(nodes, full, keys)
      partial.learn([...keys, ...keys])
    }
    try {
      const witness = partial.witness(accesses)
      const ofFull = new Set(full.witness(accesses).map(formatData))
      assert.ok(witness.every((rlp) => ofFull.has(formatData(rlp))))
      const { table, close } = openScratchTrie()
      table.setHead(unknownStateHead(full.root(), blockOf(1)))
      const only = new NodeSet()
      for (const rlp of witness) only.add(rlp)
      const touched = accesses.map(({ address, isDeleted, slots }) => ({
        ...{ address, account: isDeleted ? null : ACCOUNT, cleared: isDeleted },
        slots: slots.map((each) => ({ slot: each.slot, value: each.isDeleted ? EMPTY_BYTES : VALUE })),
      }))
      assert.deepEqual(createStateRoot(table, 2 ** 20, { nodes: only }).update(touched), full.update(touched))
      full.discard()
      close()
      known++
    } catch (error) {
      if (!(error instanceof MissingTrieNode)) throw error
      assert.equal(nodes.get(error.hash), undefined)
    }
  }
  assert.ok(known > 100 && known < 300, `${known}`)
})

test('an empty state is known as a whole', (t) => {
  const { table, open, inTransaction } = openTrie(t)
  inTransaction(() => table.setHead(unknownStateHead(EMPTY_TRIE_ROOT, blockOf(1))))
  const touched = [{ address: addressOf(1), account: ACCOUNT, cleared: false, slots: [] }]
  assert.deepEqual(open().update(touched), hashAccounts(touched))
})
