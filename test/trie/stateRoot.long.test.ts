import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { encodeRlp } from '../../src/chain/eth/rlp.js'
import type { StateAccount } from '../../src/chain/eth/stateAccount.js'
import { bigIntToBytes, EMPTY_BYTES, padLeft } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import type { Database } from '../../src/store/database.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainWriter } from '../../src/store/rows/chainWriter.js'
import type { StateChanges } from '../../src/store/rows/stateChanges.js'
import { createStateReader } from '../../src/store/state/stateReader.js'
import { createStateTrieTable, type StateTrieTable } from '../../src/store/state/stateTrieTable.js'
import { rebuildStateTrie, type StateHead } from '../../src/trie/rebuild.js'
import { createStateRoot } from '../../src/trie/stateRoot.js'
import type { TouchedAccount } from '../../src/trie/touchedAccount.js'
import { blockAt } from '../support/chains/blocks.js'
import { createStateTrie } from '../support/chains/stateTrie.js'
import { checkStateTrie } from '../support/compare/checkStateTrie.js'
import { hashStoredState } from '../support/compare/hashStoredState.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

// One for each size of the cache.
const SEEDS = THOROUGH ? 6 : 3

/** The obvious state: by address and slot in hex. */
type Model = Map<string, { account: StateAccount; slots: Map<string, bigint> }>

const copyModel = (model: Model): Model =>
  new Map(Array.from(model, ([key, { account, slots }]) => [key, { account, slots: new Map(slots) }]))

/** Returns the root of the model by tries that are built from scratch. */
function modelRoot(model: Model): string {
  const accounts = createStateTrie()
  for (const [address, { account, slots }] of model) {
    const storage = createStateTrie()
    for (const [slot, value] of slots) storage.put(keccak256(parseHex(slot)), encodeRlp(value))
    const { nonce, balance, codeHash } = account
    accounts.put(keccak256(parseHex(address)), encodeRlp([nonce, balance, storage.root(), codeHash]))
  }
  return formatData(accounts.root())
}

const addressOf = (n: number) => keccak256(Uint8Array.of(n >> 8, n)).slice(12)
const CODE_HASH = keccak256(Uint8Array.of(1))

/** Random changes of a few accounts, made in the model too. */
function touchSome(model: Model, random: SeededRandom, count: number): TouchedAccount[] {
  const touched = new Map<string, TouchedAccount>()
  for (let i = 0; i < count; i++) {
    const address = addressOf(random.below(400))
    const key = formatData(address)
    const held = model.get(key)
    if (random.below(4) === 0) {
      model.delete(key)
      touched.set(key, { address, account: null, cleared: random.below(2) === 0, slots: [] })
      continue
    }
    const codeHash = random.below(3) === 0 ? CODE_HASH : EMPTY_CODE_HASH
    const account = { nonce: BigInt(random.below(300)), balance: BigInt(random.below(2 ** 30)) ** 3n, codeHash }
    const cleared = touched.get(key)?.cleared || held === undefined || random.below(8) === 0
    const slots = cleared ? new Map<string, bigint>() : new Map(held.slots)
    const changes = new Map<string, { slot: Uint8Array; value: Uint8Array }>()
    // Now and then enough slots that the storage takes pages.
    for (let n = random.below(random.below(12) === 0 ? 200 : 4); n > 0; n--) {
      const slot = padLeft(bigIntToBytes(random.below(300)), 32)
      const value = random.below(3) === 0 ? 0n : BigInt(random.below(2 ** 31)) ** 4n
      changes.set(formatData(slot), { slot, value: bigIntToBytes(value) })
      if (value === 0n) slots.delete(formatData(slot))
      else slots.set(formatData(slot), value)
    }
    model.set(key, { account, slots })
    const before = cleared ? [] : (touched.get(key)?.slots ?? [])
    touched.set(key, { address, account, cleared, slots: [...before, ...changes.values()] })
  }
  return [...touched.values()]
}

function openDatabase(t: TestContext): Database {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  return db
}

test('roots agree with tries built from scratch, over discarded blocks, rollbacks, spills and reopening', (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed)
    const db = openDatabase(t)
    const writer = createChainWriter(db, { beforeCommit: () => root.save(), afterRollback: () => root.reset() })
    // The smallest memory spills at nearly every block.
    const maxBytes = [1, 20_000, 2 ** 24][seed % 3]
    let root = createStateRoot(createStateTrieTable(db), maxBytes)
    let model: Model = new Map()
    let base: Model = new Map()
    let committed: Model = new Map()
    writer.begin()
    for (let step = 0; step < 80; step++) {
      root.note(touchSome(model, random, 1 + random.below(random.below(10) === 0 ? 200 : 12)))
      const place = `seed ${seed}, step ${step}`
      if (random.below(2) === 0) assert.equal(formatData(root.root()), modelRoot(model), place)
      const fate = random.below(12)
      if (fate < 3) {
        root.discard()
        model = copyModel(base)
      } else if (fate < 8) {
        root.commit()
        base = copyModel(model)
      } else if (fate < 10) {
        writer.commit()
        base = copyModel(model)
        committed = copyModel(model)
        checkStateTrie(db, modelRoot(model))
        writer.begin()
      } else if (fate < 11) {
        writer.rollback()
        model = copyModel(committed)
        base = copyModel(committed)
        writer.begin()
      } else {
        writer.commit()
        committed = copyModel(model)
        base = copyModel(model)
        root = createStateRoot(createStateTrieTable(db), maxBytes)
        assert.equal(root.accounts, model.size, place)
        writer.begin()
      }
      if (fate !== 9) assert.equal(formatData(root.root()), modelRoot(model), place)
    }
    writer.rollback()
  }
})

test('an account that is touched again before it is hashed counts as it is last', (t) => {
  const root = createStateRoot(createStateTrieTable(openDatabase(t)), 2 ** 20)
  const address = addressOf(1)
  const account = { nonce: 1n, balance: 2n, codeHash: EMPTY_CODE_HASH }
  const slot = (n: number, value: number) => ({ slot: padLeft(Uint8Array.of(n), 32), value: bigIntToBytes(value) })
  root.note([{ address, account, cleared: false, slots: [slot(1, 7), slot(2, 8)] }])
  assert.equal(root.pending, 3)
  root.note([{ address, account: null, cleared: true, slots: [] }])
  assert.equal(root.pending, 1)
  root.note([{ address, account, cleared: false, slots: [slot(3, 9)] }])
  root.note([{ address, account, cleared: false, slots: [slot(3, 0), slot(4, 5)] }])
  const model: Model = new Map([
    [formatData(address), { account, slots: new Map([[formatData(slot(4, 0).slot), 5n]]) }],
  ])
  assert.equal(formatData(root.root()), modelRoot(model))
  assert.equal(root.pending, 0)
})

/** Stores a state of `count` accounts, one of them with `slotCount` slots, in block 0 without a trie. */
function storeRows(db: Database, count: number, slotCount: number): StateHead {
  const changes: StateChanges = { accounts: [], storage: [], codes: [] }
  for (let n = 0; n < count; n++) {
    changes.accounts.push({ address: addressOf(n), incarnation: 0, account: { nonce: 1n, balance: BigInt(n) } })
  }
  for (let n = 0; n < slotCount; n++) {
    const slot = padLeft(bigIntToBytes(n), 32)
    changes.storage.push({ address: addressOf(3), incarnation: 0, slot, value: n % 5 ? bigIntToBytes(n) : EMPTY_BYTES })
  }
  const writer = createChainWriter(db)
  writer.begin()
  writer.insertBlock(blockAt(0), [], 0n, changes)
  writer.commit()
  return { number: 0, hash: blockAt(0).hash, stateRoot: hashStoredState(createStateReader(db)) }
}

function isTrieOf(table: StateTrieTable, { hash }: StateHead): boolean {
  return table.head()?.block?.hash === formatData(hash)
}

function rebuild(db: Database, head: StateHead, stopAfter = Number.POSITIVE_INFINITY) {
  const stop = new AbortController()
  let commits = 0
  const options = {
    reader: createStateReader(db),
    progress: noProgress,
    signal: stop.signal,
    begin: () => void db.exec('BEGIN IMMEDIATE'),
    commit: () => {
      db.exec('COMMIT')
      if (++commits >= stopAfter) stop.abort()
    },
  }
  return rebuildStateTrie(createStateTrieTable(db), head, options).then(() => commits)
}

test('a trie is built from the rows in short transactions, and resumes where it was interrupted', async (t) => {
  const db = openDatabase(t)
  const head = storeRows(db, 12_000, 25_000)
  const table = createStateTrieTable(db)
  assert.equal(isTrieOf(table, head), false)
  for (const stopAfter of [1, 1, 2]) {
    await rebuild(db, head, stopAfter)
    assert.equal(isTrieOf(table, head), false)
  }
  const commits = await rebuild(db, head)
  assert.ok(commits >= 2, `${commits} commits`)
  assert.equal(isTrieOf(table, head), true)
  checkStateTrie(db, formatData(head.stateRoot))
  // Another trie, of other rows, is replaced with all its pages.
  table.setHead({ ...table.head()!, root: formatData(new Uint8Array(32)) })
  await rebuild(db, head)
  checkStateTrie(db, formatData(head.stateRoot))
})

test('rows that have not the root of the newest block are not taken', async (t) => {
  const db = openDatabase(t)
  const head = storeRows(db, 20, 5)
  await assert.rejects(rebuild(db, { ...head, stateRoot: new Uint8Array(32) }), /the database is damaged/)
})
