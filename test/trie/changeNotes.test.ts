import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { bytesToBigInt, trimLeft } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import type { AccountChange, StateChanges, StorageChange } from '../../src/store/rows/stateChanges.js'
import { createStateInserts } from '../../src/store/rows/stateInserts.js'
import { createStateReader } from '../../src/store/state/stateReader.js'
import { createStateTrieTable } from '../../src/store/state/stateTrieTable.js'
import { beginWriting, commitWriting } from '../../src/store/writeTransaction.js'
import { StorageOfOtherIncarnation } from '../../src/trie/blockChanges.js'
import { createChangeNotes } from '../../src/trie/changeNotes.js'
import { createStateRoot, hashAccounts } from '../../src/trie/stateRoot.js'
import { contentOf } from '../support/chains/trieContent.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* State changes that are noted block by block against a state that is hashed as a whole: accounts come, go, and come
 * again. */

interface Held {
  account?: { nonce: bigint; balance: bigint; codeHash?: Uint8Array }
  incarnation: number
  slots: Map<string, { slot: Uint8Array; value: Uint8Array }>
}

const CODES = [1, 2, 3].map((byte) => ({ hash: keccak256(Uint8Array.of(byte)), bytes: Uint8Array.of(byte) }))

function openState(t: TestContext) {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const inserts = createStateInserts(db, { collects: true })
  return { db, inserts, reader: createStateReader(db), root: createStateRoot(createStateTrieTable(db), 2 ** 20) }
}

/** Changes of a block, which `state` then has. */
function change(state: Map<number, Held>, random: SeededRandom, slotCount = 20): StateChanges {
  const accounts: AccountChange[] = []
  const storage: StorageChange[] = []
  const addresses = new Set(Array.from({ length: 1 + random.below(6) }, () => random.below(12)))
  for (const n of addresses) {
    const address = keccak256(Uint8Array.of(n)).slice(0, 20)
    const held: Held = state.get(n) ?? { incarnation: 0, slots: new Map() }
    state.set(n, held)
    const kind = random.below(6)
    const isNew = held.account === undefined
    if (kind === 0 && !isNew) {
      held.account = undefined
      held.incarnation++
      held.slots.clear()
      accounts.push({ address, incarnation: held.incarnation })
      continue
    }
    if (kind === 1 && !isNew) {
      held.incarnation++ // destroyed and created again
      held.slots.clear()
    }
    if (kind < 4 || isNew) {
      const codeHash = random.below(2) === 0 ? held.account?.codeHash : CODES[random.below(3)].hash
      held.account = { nonce: BigInt(random.below(9)), balance: bytesToBigInt(random.bytes(9)), codeHash }
      accounts.push({ address, incarnation: held.incarnation, account: held.account })
    }
    const slots = new Set(Array.from({ length: random.below(slotCount >> 2) }, () => random.below(slotCount)))
    for (const index of slots) {
      const slot = index < 3 ? Uint8Array.from([...new Uint8Array(31), index]) : keccak256(Uint8Array.of(index))
      const value = random.below(3) === 0 ? new Uint8Array(0) : trimLeft(random.bytes(1 + random.below(32)))
      if (value.length === 0) held.slots.delete(formatData(slot))
      else held.slots.set(formatData(slot), { slot, value })
      storage.push({ address, incarnation: held.incarnation, slot, value })
    }
  }
  return { accounts, storage, codes: CODES }
}

function hashWhole(state: ReadonlyMap<number, Held>): Uint8Array {
  const accounts = [...state].flatMap(([n, { account, slots }]) => {
    if (!account) return []
    const { nonce, balance, codeHash = EMPTY_CODE_HASH } = account
    const address = keccak256(Uint8Array.of(n)).slice(0, 20)
    return [{ address, account: { nonce, balance, codeHash }, cleared: false, slots: [...slots.values()] }]
  })
  return hashAccounts(accounts)
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`noted changes give the root of the whole state, seed ${seed}`, (t) => {
    const random = seededRandom(seed)
    const { db, inserts, reader, root } = openState(t)
    const notes = createChangeNotes(reader, 1000)
    const state = new Map<number, Held>()
    let number = 1
    for (let round = 0; round < 30; round++) {
      beginWriting(db)
      for (let blocks = 1 + random.below(8); blocks > 0; blocks--) {
        const changes = change(state, random)
        inserts.insert(number, changes)
        assert.ok(notes.note(number, changes))
        number++
      }
      inserts.flush()
      assert.equal(formatData(root.apply(notes.updates())), formatData(hashWhole(state)), `block ${number - 1}`)
      notes.clear()
      root.save()
      commitWriting(db)
    }
  })
}

/** The accounts that the changes leave, as a block's executor gives them. */
function touchedBy(changes: StateChanges, before: ReadonlyMap<string, number>, state: Map<number, Held>) {
  const held = new Map(Array.from(state, ([n, each]) => [formatData(keccak256(Uint8Array.of(n)).slice(0, 20)), each]))
  const addresses = new Map<string, Uint8Array>()
  for (const { address } of [...changes.accounts, ...changes.storage]) addresses.set(formatData(address), address)
  return Array.from(addresses, ([key, address]) => {
    const { account, incarnation } = held.get(key)!
    const { codeHash = EMPTY_CODE_HASH, ...fields } = account ?? { nonce: 0n, balance: 0n }
    return {
      address,
      account: account ? { ...fields, codeHash } : null,
      cleared: before.has(key) && before.get(key) !== incarnation,
      slots: changes.storage.filter((each) => formatData(each.address) === key),
    }
  })
}

test('batches of noted changes store what the same blocks store one by one', (t) => {
  for (const seed of [1, 2, 3]) {
    const random = seededRandom(seed)
    const [noted, single] = [openState(t), openState(t)]
    const notes = createChangeNotes(noted.reader, 100_000)
    const state = new Map<number, Held>()
    const incarnations = new Map<string, number>()
    let number = 1
    for (let round = 0; round < 12; round++) {
      beginWriting(noted.db)
      beginWriting(single.db)
      // Some batches are of one block, some clear what they set before.
      for (let blocks = 1 + random.below([1, 4, 30][round % 3]); blocks > 0; blocks--) {
        const changes = change(state, random, 250)
        const touched = touchedBy(changes, incarnations, state)
        for (const { address, incarnation } of changes.accounts) incarnations.set(formatData(address), incarnation)
        noted.inserts.insert(number, changes)
        assert.ok(notes.note(number++, changes))
        single.root.update(touched)
        single.root.commit()
      }
      noted.inserts.flush()
      noted.root.apply(notes.updates())
      notes.clear()
      const [stored, expected] = [noted, single].map(({ db, root }) => {
        root.save()
        commitWriting(db)
        const table = createStateTrieTable(db)
        const { top, accounts } = table.head()!
        return { accounts, pages: table.extent().count, content: contentOf(topOf(top), table.read, true) }
      })
      assert.deepEqual(stored, expected, `seed ${seed}, round ${round}`)
      assert.ok(round < 6 || stored.pages > 20)
    }
  }
})

function topOf(hex: string): Uint8Array | undefined {
  return hex === '0x' ? undefined : parseHex(hex)
}

test('changes for which there is no room are not taken', (t) => {
  const { reader } = openState(t)
  const notes = createChangeNotes(reader, 4)
  const account = { nonce: 1n, balance: 1n }
  const changesOf = (...bytes: number[]): StateChanges => ({
    accounts: bytes.map((byte) => ({ address: new Uint8Array(20).fill(byte), incarnation: 0, account })),
    storage: [],
    codes: [],
  })
  assert.equal(notes.note(1, changesOf(1, 2, 3)), true)
  assert.equal(notes.size, 3)
  assert.equal(notes.note(2, changesOf(4, 5)), false)
  assert.equal(notes.size, 3)
  notes.clear()
  assert.equal(notes.size, 0)
  assert.equal(notes.note(2, changesOf(4, 5)), true)
})

test('a slot of another incarnation, or of no account, is refused', (t) => {
  const { reader } = openState(t)
  const address = new Uint8Array(20).fill(1)
  const slots = (incarnation: number): StorageChange[] => [
    { address, incarnation, slot: new Uint8Array(32), value: Uint8Array.of(1) },
  ]
  const account = { nonce: 1n, balance: 1n, codeHash: CODES[0].hash }
  for (const accounts of [[], [{ address, incarnation: 1, account }], [{ address, incarnation: 0 }]]) {
    const notes = createChangeNotes(reader, 10)
    assert.throws(() => notes.note(7, { accounts, storage: slots(0), codes: [] }), StorageOfOtherIncarnation)
  }
})
