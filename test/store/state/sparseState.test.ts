import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { padLeft, trimLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { createMetaTable, META_CLOSED_STATES, META_STATE_FIRST, META_STATE_MODE } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import type { BaseState } from '../../../src/store/rows/stateChanges.js'
import { createStateInserts } from '../../../src/store/rows/stateInserts.js'
import { createBaseRows, readBaseKeys } from '../../../src/store/state/baseRows.js'
import { createHashedRanges } from '../../../src/store/state/hashedRanges.js'
import { MissingState } from '../../../src/store/state/missingState.js'
import { createRawState } from '../../../src/store/state/rawState.js'
import { recentRowsOf } from '../../../src/store/state/recentRows.js'
import { removeHistoryAbove } from '../../../src/store/state/removeHistory.js'
import { SlotReader } from '../../../src/store/state/slotReader.js'
import { INCARNATIONS, StateNotListable } from '../../../src/store/state/sparseState.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { beginWriting, commitWriting } from '../../../src/store/writeTransaction.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const FIRST = 100
const ADDRESS = new Uint8Array(20).fill(0xaa)
const NO_BASE = { accounts: [], slots: [], codes: [] }

function openSparse(t: TestContext): Database {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const meta = createMetaTable(db)
  meta.set(META_STATE_MODE, 'sparse')
  meta.set(META_STATE_FIRST, FIRST)
  return db
}

test('an account and a slot without rows are unknown, and not empty', (t) => {
  const db = openSparse(t)
  const reader = createStateReader(db)
  assert.throws(() => reader.account(ADDRESS, FIRST), MissingState)
  const account = { nonce: 1n, balance: 2n }
  createBaseRows(db).insert(FIRST, { ...NO_BASE, accounts: [{ address: ADDRESS, account, hasStorage: true }] })
  const { addressId, incarnation } = reader.account(ADDRESS, FIRST)!
  const slot = padLeft(Uint8Array.of(7), 32)
  for (const read of [
    () => reader.storage(addressId, incarnation, slot, FIRST + 5),
    () => {
      const words = new Int32Array(8)
      words[0] = 7
      new SlotReader(db).read({ addressId, incarnation }, words, 0, { blockNumber: FIRST + 5, next: false })
    },
  ]) {
    assert.throws(read, (error) => {
      assert.ok(error instanceof MissingState)
      assert.deepEqual([...error.address], [...ADDRESS])
      assert.deepEqual([...error.slot!], [...slot])
      return true
    })
  }
  assert.equal(reader.hasStorage(addressId, incarnation), true)
})

test('an account without storage at the first block has no unknown slots, nor has one that did not exist', (t) => {
  const db = openSparse(t)
  const other = new Uint8Array(20).fill(0xbb)
  const account = { nonce: 1n, balance: 2n }
  createBaseRows(db).insert(FIRST, {
    ...NO_BASE,
    accounts: [
      { address: ADDRESS, account, hasStorage: false },
      { address: other, hasStorage: false },
    ],
  })
  const reader = createStateReader(db)
  const { addressId, incarnation } = reader.account(ADDRESS, FIRST)!
  assert.equal(reader.storage(addressId, incarnation, new Uint8Array(32), FIRST).length, 0)
  assert.equal(reader.hasStorage(addressId, incarnation), false)
  assert.equal(reader.account(other, FIRST)!.account, undefined)
})

test('a base row after a change of its key is refused, and one that exists stays', (t) => {
  const db = openSparse(t)
  const base = createBaseRows(db)
  base.insert(FIRST, {
    ...NO_BASE,
    accounts: [{ address: ADDRESS, account: { nonce: 0n, balance: 1n }, hasStorage: true }],
  })
  base.insert(FIRST, {
    ...NO_BASE,
    accounts: [{ address: ADDRESS, account: { nonce: 0n, balance: 9n }, hasStorage: true }],
  })
  assert.equal(createStateReader(db).account(ADDRESS, FIRST)!.account!.balance, 1n)
  const slot = Uint8Array.of(1)
  const storage = [{ address: ADDRESS, incarnation: 0, slot, value: Uint8Array.of(5) }]
  createStateInserts(db).insert(FIRST + 3, { accounts: [], storage, codes: [] })
  const late = { ...NO_BASE, slots: [{ address: ADDRESS, slot, value: Uint8Array.of(4) }] }
  assert.throws(() => base.insert(FIRST, late), /a row of block 103 was written before its base row/)
})

test('a state that is known in part cannot be listed', (t) => {
  const db = openSparse(t)
  const range = { start: new Uint8Array(32), limit: 10, check: () => {} }
  assert.throws(() => createHashedRanges(db).accounts(FIRST, range), StateNotListable)
})

test('a base row replaces the marker of an account, also while blocks have recent rows', (t) => {
  const db = openSparse(t)
  const base = createBaseRows(db)
  const baseOf = (address: Uint8Array, balance: bigint) => ({
    ...NO_BASE,
    accounts: [{ address, account: { nonce: 0n, balance }, hasStorage: true }],
  })
  base.insert(FIRST, baseOf(ADDRESS, 1n))
  const again = FIRST + 20
  const meta = createMetaTable(db)
  meta.set(META_CLOSED_STATES, [{ first: FIRST, last: FIRST + 9 }])
  meta.set(META_STATE_FIRST, again)
  base.mark(again)
  const reader = createStateReader(db)
  assert.throws(() => reader.account(ADDRESS, again), MissingState)
  const other = new Uint8Array(20).fill(0xbb)
  const changed = { address: other, incarnation: INCARNATIONS, account: { nonce: 0n, balance: 3n } }
  const inserts = createStateInserts(db)
  inserts.insert(again + 1, { accounts: [changed], storage: [], codes: [], base: baseOf(other, 2n) }, true)
  base.insert(again, baseOf(ADDRESS, 5n))
  const balances = [FIRST, again, again + 1].map((at) => reader.account(ADDRESS, at)!.account!.balance)
  assert.deepEqual(balances, [1n, 5n, 5n])
  const raw = createRawState(db)
  assert.deepEqual([raw.overtaken(), raw.withoutBase(again, [])], [undefined, undefined])
})

/* The value of a key that no block since the first one changed is the same at all heights: keys become known at random
 * times, by proofs at the head of the time, on branches that replace each other; every read of a known key at every
 * height is that of a complete history. */
for (const seed of [1, 2, 3]) {
  test(`base rows that are proved at later heads are right at all heights, on random branches of seed ${seed}`, (t) => {
    const random = seededRandom(seed)
    const db = openSparse(t)
    recentRowsOf(db, { tip: 3, recent: 7, older: 20 })
    const world = createWorld(random)
    const base = createBaseRows(db)
    const inserts = createStateInserts(db)
    const reader = createStateReader(db)
    const raw = createRawState(db)
    /** Slots by account. */
    const known = new Map<number, Set<number>>()
    const baseOf = (account: number, slots: readonly number[]): BaseState => ({
      codes: [],
      accounts: [
        {
          ...{ address: addressOf(account), hasStorage: true },
          account: fieldsOf(world.balance(account, world.head())),
        },
      ],
      slots: slots.map((slot) => ({
        ...{ address: addressOf(account), slot: Uint8Array.of(slot + 1) },
        value: trimLeft(Uint8Array.of(world.slot(account, slot, world.head()))),
      })),
    })
    const learn = (account: number, slots: readonly number[]) => {
      known.set(account, new Set([...(known.get(account) ?? []), ...slots]))
      return baseOf(account, slots)
    }
    const removeBase = () => {
      for (const [account, slots] of known) {
        if (world.wasChanged(account) || random.below(2) === 0) continue
        const baseSlots = Array.from(slots, (slot) => Uint8Array.of(slot + 1))
        base.remove(FIRST, 0, [{ address: addressOf(account), isBase: true, baseSlots, slots: [] }])
        known.delete(account)
      }
    }
    const seen = { tip: 0, history: 0 }
    for (let step = 0; step < 300; step++) {
      beginWriting(db)
      if (random.below(10) === 0) {
        const to = Math.max(FIRST, world.head() - random.below(6))
        world.rewind(to)
        removeHistoryAbove(db, to)
      } else if (random.below(15) === 0) {
        removeBase()
      } else if (random.below(3) === 0) {
        base.insert(FIRST, learn(random.below(ACCOUNTS), [random.below(SLOTS)]))
      } else {
        const changes = world.makeBlock()
        // A block loads what it changes.
        const loaded = changes.map(({ account, slot }) => learn(account, [slot]))
        world.apply(changes)
        inserts.insert(
          world.head(),
          {
            codes: [],
            accounts: changes.map(({ account, balance }) => ({
              ...{ address: addressOf(account), incarnation: 0, account: fieldsOf(balance) },
            })),
            storage: changes.map(({ account, slot, value }) => ({
              ...{ address: addressOf(account), incarnation: 0, slot: padLeft(Uint8Array.of(slot + 1), 32) },
              value: trimLeft(Uint8Array.of(value)),
            })),
            base: {
              codes: [],
              accounts: loaded.flatMap(({ accounts }) => accounts),
              slots: loaded.flatMap(({ slots }) => slots),
            },
          },
          random.below(5) > 0,
        )
        if (inserts.isMoveDue()) for (let moves = random.below(4); moves > 0; moves--) inserts.moveRecent()
      }
      commitWriting(db)
      for (const { table, rows, least } of raw.tables()) {
        if (rows === 0 || table === 'changed_keys') continue
        if (least === FIRST) seen[table.endsWith('_tip') ? 'tip' : 'history']++
        assert.ok(table.endsWith('_history') || inserts.recentBlocks() > 0, `rows of ${table} that no move finds`)
      }
      assert.deepEqual([raw.overtaken(), raw.withoutBase(FIRST, [])], [undefined, undefined])
      const at = FIRST + random.below(world.head() - FIRST + 1)
      for (const account of known.keys()) {
        const record = reader.account(addressOf(account), at)!
        assert.equal(record.account!.balance, BigInt(world.balance(account, at)), `account ${account} at ${at}`)
        for (let slot = 0; slot < SLOTS; slot++) {
          try {
            const value = reader.storage(record.addressId, record.incarnation, Uint8Array.of(slot + 1), at)
            assert.deepEqual([...value], [...trimLeft(Uint8Array.of(world.slot(account, slot, at)))])
            assert.ok(known.get(account)!.has(slot))
          } catch (error) {
            if (!(error instanceof MissingState)) throw error
            assert.ok(!known.get(account)!.has(slot))
          }
        }
      }
      const keys = Array.from(readBaseKeys(db, FIRST), ({ address, slots }) => [
        formatData(address),
        slots.map((slot) => slot[31] - 1),
      ])
      const expected = Array.from(known, ([account, slots]) => [formatData(addressOf(account)), [...slots].sort()])
      assert.deepEqual(keys.sort(), expected.sort())
    }
    assert.ok(seen.tip > 50 && seen.history > 50, JSON.stringify(seen))
    assert.ok(known.size > ACCOUNTS / 2)
  })
}

const ACCOUNTS = 20
const SLOTS = 4

function addressOf(account: number): Uint8Array {
  return keccak256(Uint8Array.of(account)).slice(0, 20)
}

function fieldsOf(balance: number) {
  return { nonce: 0n, balance: BigInt(balance) }
}

interface Change {
  account: number
  balance: number
  slot: number
  value: number
}

/** A complete state of every height, as maps. */
function createWorld(random: SeededRandom) {
  const start = {
    balances: Array.from({ length: ACCOUNTS }, () => 1 + random.below(1_000)),
    slots: Array.from({ length: ACCOUNTS * SLOTS }, () => random.below(3)),
  }
  const states = [start]
  const at = (number: number) => states[number - FIRST]
  return {
    head: () => FIRST + states.length - 1,
    balance: (account: number, number: number) => at(number).balances[account],
    slot: (account: number, slot: number, number: number) => at(number).slots[account * SLOTS + slot],
    wasChanged: (account: number) =>
      states.some(
        ({ balances, slots }) =>
          balances[account] !== start.balances[account] ||
          Array.from({ length: SLOTS }, (_, slot) => account * SLOTS + slot).some((i) => slots[i] !== start.slots[i]),
      ),
    rewind: (to: number) => void states.splice(to - FIRST + 1),
    makeBlock: (): Change[] => {
      const accounts = new Set(Array.from({ length: random.below(5) }, () => random.below(ACCOUNTS)))
      return Array.from(accounts, (account) => ({
        ...{ account, balance: 1 + random.below(1_000), slot: random.below(SLOTS), value: random.below(3) },
      }))
    },
    apply: (changes: readonly Change[]) => {
      const { balances, slots } = states[states.length - 1]
      const next = { balances: [...balances], slots: [...slots] }
      for (const { account, balance, slot, value } of changes) {
        next.balances[account] = balance
        next.slots[account * SLOTS + slot] = value
      }
      states.push(next)
    },
  }
}
