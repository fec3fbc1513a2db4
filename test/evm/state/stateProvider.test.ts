import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { LIMBS, setBytes, wordToBigInt } from '../../../src/evm/interpreter/words/words.js'
import { SlotCache } from '../../../src/evm/state/slotCache.js'
import {
  createCodeCache,
  createNewestState,
  createStateProviders,
  type StateProvider,
} from '../../../src/evm/state/stateProvider.js'
import { bigIntToBytes, EMPTY_BYTES, padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import { SlotReader } from '../../../src/store/state/slotReader.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { blockAt } from '../../support/chains/blocks.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

interface Held {
  incarnation: number
  account?: { nonce: bigint; balance: bigint }
  slots: Map<string, bigint>
}
type Model = Map<string, Held>

const ADDRESSES = Array.from({ length: 12 }, (_, i) => keccak256(Uint8Array.of(i)).slice(12))
const SLOTS = Array.from({ length: 8 }, (_, i) => padLeft(bigIntToBytes(i * 77), 32))

function openDatabase(t: TestContext): Database {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  return db
}

/** Random changes, as a journal makes them, also in the model. */
function change(model: Model, random: SeededRandom): StateChanges {
  const changes: StateChanges = { accounts: [], storage: [], codes: [] }
  for (const address of ADDRESSES) {
    if (random.below(3) > 0) continue
    const key = formatData(address)
    const held: Held = model.get(key) ?? { incarnation: 0, slots: new Map() }
    if (held.account && random.below(4) === 0) {
      model.set(key, { incarnation: held.incarnation + 1, slots: new Map() })
      changes.accounts.push({ address, incarnation: held.incarnation + 1 })
      continue
    }
    const account = { nonce: BigInt(random.below(9)), balance: BigInt(random.below(2 ** 31)) ** 3n }
    const slots = new Map(held.slots)
    changes.accounts.push({ address, incarnation: held.incarnation, account })
    for (const slot of SLOTS) {
      if (random.below(4) > 0) continue
      const value = random.below(3) === 0 ? 0n : BigInt(1 + random.below(2 ** 30))
      slots.set(formatData(slot), value)
      changes.storage.push({ address, incarnation: held.incarnation, slot, value: bigIntToBytes(value) })
    }
    model.set(key, { incarnation: held.incarnation, account, slots })
  }
  return changes
}

/** A slot's value by words, as a journal reads it. */
function readWord(state: StateProvider, address: Uint8Array, slot: Uint8Array): bigint {
  const words = new Int32Array(2 * LIMBS).fill(-1)
  setBytes(words, 0, slot, 0, slot.length)
  state.slotsOf!(address).read(words, 0, words, LIMBS)
  return wordToBigInt(words, LIMBS)
}

function compare(state: StateProvider, model: Model, random: SeededRandom | undefined, place: string): void {
  for (const address of ADDRESSES) {
    if (random && random.below(3) > 0) continue
    const held = model.get(formatData(address))
    const account = held?.account && { ...held.account, codeHash: EMPTY_CODE_HASH }
    assert.deepEqual(state.account(address), held && { incarnation: held.incarnation, account }, place)
    for (const slot of SLOTS) {
      const value = held?.account ? (held.slots.get(formatData(slot)) ?? 0n) : 0n
      assert.equal(formatData(state.storage(address, slot)), formatData(bigIntToBytes(value)), place)
      if (state.slotsOf !== undefined) assert.equal(readWord(state, address, slot), value, place)
    }
    // It may say so of slots that are set later.
    if (held?.account && held.slots.size > 0) assert.equal(state.hasStorage(address), true, place)
    if (!held?.account) assert.equal(state.hasStorage(address), false, place)
  }
}

test('the newest state in memory is that of the database after changes, rollbacks and turnovers of the cache', (t) => {
  for (const [seed, maxBytes] of [
    [1, 0],
    [2, 4_000],
    [3, 20_000],
    [4, 2 ** 24],
  ]) {
    const random = seededRandom(seed)
    const db = openDatabase(t)
    const reader = createStateReader(db)
    const state = createNewestState(reader, { codes: createCodeCache(reader), maxBytes })
    const writer = createChainWriter(db)
    let model: Model = new Map()
    for (let block = 0; block < 80; ) {
      const before = new Map(model)
      const changes = change(model, random)
      // As a journal does, which reads what it compares with.
      compare(state, before, random, `seed ${seed}, before block ${block}`)
      state.wrote(changes)
      writer.begin()
      writer.insertBlock(blockAt(block), [], 0n, changes)
      if (random.below(5) === 0) {
        writer.rollback()
        state.clear()
        model = before
      } else {
        writer.commit()
        block++
      }
      compare(state, model, random, `seed ${seed}, after block ${block}`)
    }
    compare(state, model, undefined, `seed ${seed}`)
  }
})

test('states at blocks are distinguished by their hashes, and do not change when later blocks come', (t) => {
  const random = seededRandom(9)
  const db = openDatabase(t)
  const reader = createStateReader(db)
  const states = createStateProviders(reader, { codes: createCodeCache(reader) })
  const writer = createChainWriter(db)
  const model: Model = new Map()
  const history: Model[] = []
  for (let block = 0; block < 20; block++) {
    const changes = change(model, random)
    history.push(new Map(model))
    writer.begin()
    writer.insertBlock(blockAt(block), [], 0n, changes)
    writer.commit()
    const at = random.below(block + 1)
    compare(states.at(at, blockAt(at).hash), history[at], random, `block ${at} at ${block}`)
  }
  assert.equal(states.at(19, blockAt(19).hash), states.at(19, blockAt(19).hash))
  // Block 19 again, with another state and another hash.
  compare(states.at(19, blockAt(19).hash), history[19], undefined, 'before the reorg')
  writer.begin()
  writer.rewindTo(18)
  writer.insertBlock(blockAt(19), [], 0n, {
    accounts: [{ address: ADDRESSES[0], incarnation: 9 }],
    storage: [],
    codes: [],
  })
  writer.commit()
  const other = states.at(19, new Uint8Array(32))
  assert.deepEqual(other.account(ADDRESSES[0]), { incarnation: 9, account: undefined })
})

test('states at blocks share slots, also across incarnations and reorgs', (t) => {
  for (const seed of [11, 12, 13]) {
    const random = seededRandom(seed)
    const db = openDatabase(t)
    const reader = createStateReader(db)
    const { blockHash } = createChainReader(db)
    const writer = createChainWriter(db)
    const slots = new SlotCache(new SlotReader(db), { maxBytes: 2 ** 20, maxChanges: 20_000 })
    const states = createStateProviders(reader, { codes: createCodeCache(reader), slots })
    const history: Model[] = []
    let renewed = 0
    for (let step = 0; step < 80; step++) {
      const kept = history.length - (random.below(4) === 0 ? random.below(3) : 0)
      writer.begin()
      if (kept > 0 && kept < history.length) {
        writer.rewindTo(kept - 1)
        history.splice(kept)
      }
      const model = new Map(history.at(-1))
      const changes = change(model, random)
      writer.insertBlock({ ...blockAt(history.length), hash: random.bytes(32) }, [], 0n, changes)
      writer.commit()
      history.push(model)
      for (const held of model.values()) if (held.incarnation > 0 && held.slots.size > 0) renewed++
      for (let reads = 0; reads < 3; reads++) {
        const at = random.below(2) === 0 ? history.length - 1 : random.below(history.length)
        slots.moveTo(at, blockHash(at)!, blockHash)
        const state = states.at(at, blockHash(at)!)
        compare(state, history[at], random, `seed ${seed}, step ${step}, block ${at}`)
      }
    }
    assert(renewed > 100)
  }
})

test('code is kept up to its bound, and read again beyond it', (t) => {
  const db = openDatabase(t)
  const reader = createStateReader(db)
  const codes = Array.from({ length: 20 }, (_, i) => new Uint8Array(1000).fill(i + 1))
  const writer = createChainWriter(db)
  writer.begin()
  const named = codes.map((bytes) => ({ hash: keccak256(bytes), bytes }))
  writer.insertBlock(blockAt(0), [], 0n, { accounts: [], storage: [], codes: named })
  writer.commit()
  const cache = createCodeCache(reader, 8_000)
  for (const { hash, bytes } of named) assert.deepEqual(Buffer.from(cache.byHash(hash)), Buffer.from(bytes))
  const last = cache.byHash(named[19].hash)
  assert.equal(cache.byHash(named[19].hash), last)
  const first = cache.byHash(named[0].hash)
  for (const { hash } of named) cache.byHash(hash)
  assert.notEqual(cache.byHash(named[0].hash), first)
  assert.deepEqual(Buffer.from(first), Buffer.from(codes[0]))
  assert.notDeepEqual(first, EMPTY_BYTES)
})
