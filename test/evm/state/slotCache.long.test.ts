import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { LIMBS, setBytes, wordToBytes } from '../../../src/evm/interpreter/words/words.js'
import { SlotCache } from '../../../src/evm/state/slotCache.js'
import { bigIntToFixedBytes, equalBytes, padLeft, trimLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import { SlotReader } from '../../../src/store/state/slotReader.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { blockAt } from '../../support/chains/blocks.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryConnections } from '../../support/temporaryConnections.js'
import { THOROUGH } from '../../support/thorough.js'

const ADDRESSES = Array.from({ length: 6 }, (_, i) => keccak256(Uint8Array.of(i)).slice(12))
const INCARNATIONS = 3
const ROUNDS = THOROUGH ? 60 : 24

/** Names of all lengths: no bytes, neighbours of an array, hashes. */
function makeSlots(count: number): Uint8Array[] {
  const small = Array.from({ length: count }, (_, i) => bigIntToFixedBytes(BigInt(i) ** 2n * 51n, 32))
  const cut = small.map((_, i) => padLeft(keccak256(Uint8Array.of(i, 7)).slice(i % 32), 32))
  return [...new Map([...small, ...cut].map((slot) => [formatData(slot), slot])).values()]
}

interface Change {
  hash: Uint8Array
  changes: StateChanges
}

/** A chain that grows and is replaced, on one connection, and the cache on another. */
function openChain(
  t: TestContext,
  { maxBytes, slots }: { maxBytes: number; slots: Uint8Array[] },
  random: SeededRandom,
) {
  const { writing, reading } = temporaryConnections(t)
  const writer = createChainWriter(writing)
  const blocks: Change[] = []
  const write = (work: () => void) => {
    writer.begin()
    work()
    writer.commit()
  }
  const insert = (block: Change) => {
    writer.insertBlock({ ...blockAt(blocks.length), hash: block.hash }, [], 0n, block.changes)
    blocks.push(block)
  }
  const grow = (count: number) => {
    for (let i = 0; i < count; i++) insert({ hash: random.bytes(32), changes: randomChanges(random, slots) })
  }
  return {
    write,
    grow,
    insert,
    blocks,
    rewindTo: (number: number) => {
      writer.rewindTo(number)
      return blocks.splice(number + 1)
    },
    cache: new SlotCache(new SlotReader(reading), { maxBytes, maxChanges: 20_000 }),
    reading,
  }
}

function randomChanges(random: SeededRandom, slots: readonly Uint8Array[]): StateChanges {
  const changes: StateChanges = { accounts: [], storage: [], codes: [] }
  for (const address of ADDRESSES) {
    const incarnation = random.below(INCARNATIONS)
    for (const slot of slots) {
      if (random.below(12) > 0) continue
      const value = random.below(3) === 0 ? new Uint8Array(0) : trimLeft(random.bytes(1 + random.below(32)))
      changes.storage.push({ address, incarnation, slot, value })
    }
  }
  return changes
}

/** Compares random reads at a block by the cache with those by SQL, `reads` of them. */
function compare(db: Database, cache: SlotCache, { blockNumber, reads, slots }: Compared, random: SeededRandom): void {
  const state = createStateReader(db)
  const chain = createChainReader(db)
  cache.moveTo(blockNumber, chain.blockHash(blockNumber)!, chain.blockHash)
  const words = new Int32Array(3 * LIMBS)
  for (let i = 0; i < reads; i++) {
    const addressId = state.addressId(ADDRESSES[random.below(ADDRESSES.length)])
    if (addressId === undefined) continue
    const incarnation = random.below(INCARNATIONS)
    const slot = slots[random.below(slots.length)]
    setBytes(words, LIMBS, slot, 0, 32)
    cache.read(cache.storageOf({ addressId, incarnation }), blockNumber, words, LIMBS, words, 2 * LIMBS)
    const expected = state.storage(addressId, incarnation, slot, blockNumber)
    const place = `${formatData(slot)} of ${addressId}, ${incarnation} at ${blockNumber}`
    assert.equal(formatData(wordToBytes(words, 2 * LIMBS)), formatData(padLeft(expected, 32)), place)
    assert(equalBytes(wordToBytes(words, LIMBS), slot), 'the name is left as it was')
  }
}

interface Compared {
  blockNumber: number
  reads: number
  slots: readonly Uint8Array[]
}

test('slots read through the cache are those of the database, at every height, while blocks come and are replaced', (t) => {
  for (const [seed, maxBytes, count] of [
    [1, 0, 40], // 256 slots in each half
    [2, 0, 400],
    [3, 200_000, 400],
    [4, 2 ** 24, 40],
    [5, 2 ** 24, 400],
  ]) {
    const random = seededRandom(seed)
    const slots = makeSlots(count)
    const chain = openChain(t, { maxBytes, slots }, random)
    chain.write(() => chain.grow(1))
    for (let round = 0; round < ROUNDS; round++) {
      const draw = random.below(10)
      const head = chain.blocks.length - 1
      if (draw < 5) chain.write(() => chain.grow(1 + random.below(2)))
      else if (draw === 5) chain.write(() => chain.grow(10))
      else if (draw < 8 && head > 2) {
        // The same blocks again, some of them, or none; then others, so that the head is higher, the same or lower.
        const kept = head - 1 - random.below(Math.min(head - 1, 4))
        const removed: Change[] = []
        chain.write(() => removed.push(...chain.rewindTo(kept)))
        if (random.below(2) === 0) read(1)
        const again = random.below(removed.length + 1)
        chain.write(() => {
          for (const block of removed.slice(0, again)) chain.insert(block)
          chain.grow(random.below(4))
        })
      }
      read(1 + random.below(4))
    }
    /** Opens snapshots, each with calls at some blocks, while the chain changes. */
    function read(snapshots: number): void {
      for (let i = 0; i < snapshots; i++) {
        const head = chain.blocks.length - 1
        const inSnapshot = chain.reading.transaction(() => {
          for (let call = 0; call < 3; call++) {
            const blockNumber = random.below(2) === 0 ? head : random.below(head + 1)
            compare(chain.reading, chain.cache, { blockNumber, reads: 60, slots }, random)
            if (random.below(8) === 0) chain.write(() => chain.grow(1))
            if (random.below(24) === 0 && chain.blocks.length > 3) {
              chain.write(() => chain.rewindTo(chain.blocks.length - 3))
            }
          }
        })
        inSnapshot()
      }
    }
  }
})

test('the cache reads a slot once for all the blocks between two changes of it', (t) => {
  const random = seededRandom(6)
  const slots = makeSlots(4)
  const chain = openChain(t, { maxBytes: 2 ** 20, slots }, random)
  const [address] = ADDRESSES
  const set = (slot: Uint8Array, value: number) => ({
    hash: random.bytes(32),
    changes: { accounts: [], codes: [], storage: [{ address, incarnation: 0, slot, value: Uint8Array.of(value) }] },
  })
  chain.write(() => {
    chain.insert(set(slots[1], 1))
    for (let i = 0; i < 9; i++) chain.insert(set(slots[2], i))
    chain.insert(set(slots[1], 2))
    for (let i = 0; i < 9; i++) chain.insert(set(slots[2], i))
  })
  const addressId = createStateReader(chain.reading).addressId(address)!
  const { blockHash } = createChainReader(chain.reading)
  const reader = new SlotReader(chain.reading)
  let reads = 0
  const read = reader.read.bind(reader)
  reader.read = (...args) => {
    reads++
    read(...args)
  }
  const cache = new SlotCache(reader, { maxBytes: 2 ** 20, maxChanges: 20_000 })
  const words = new Int32Array(2 * LIMBS)
  const valueAt = (blockNumber: number) => {
    cache.moveTo(blockNumber, blockHash(blockNumber)!, blockHash)
    setBytes(words, 0, slots[1], 0, 32)
    cache.read(cache.storageOf({ addressId, incarnation: 0 }), blockNumber, words, 0, words, LIMBS)
    return words[LIMBS]
  }
  assert.deepEqual([19, 15, 10, 12].map(valueAt), [2, 2, 2, 2])
  assert.equal(reads, 1)
  assert.deepEqual([9, 3, 0, 5].map(valueAt), [1, 1, 1, 1])
  assert.equal(reads, 2)
  assert.deepEqual([19, 18].map(valueAt), [2, 2])
  assert.equal(reads, 3)
  // Blocks that leave it as it is, and one that does not.
  chain.write(() => chain.insert(set(slots[2], 9)))
  assert.deepEqual([20, 19].map(valueAt), [2, 2])
  assert.equal(reads, 3)
  chain.write(() => chain.insert(set(slots[1], 3)))
  assert.deepEqual([21, 20, 21].map(valueAt), [3, 2, 3])
  assert.equal(reads, 6)
})

test('the cache takes no more memory than its bound', (t) => {
  const random = seededRandom(7)
  const chain = openChain(t, { maxBytes: 0, slots: [] }, random)
  chain.write(() => chain.grow(1))
  const { blockHash } = createChainReader(chain.reading)
  for (const maxBytes of THOROUGH ? [50_000, 300_000, 2 ** 20, 3_000_000] : [50_000, 2 ** 20]) {
    const cache = new SlotCache(new SlotReader(chain.reading), { maxBytes, maxChanges: 20_000 })
    cache.moveTo(0, blockHash(0)!, blockHash)
    const storage = cache.storageOf({ addressId: 1, incarnation: 0 })
    const words = new Int32Array(2 * LIMBS)
    let most = 0
    for (let i = 0; i < 100_000; i++) {
      words[0] = i
      cache.read(storage, 0, words, 0, words, LIMBS)
      most = Math.max(most, cache.bytes())
    }
    assert(most <= maxBytes, `${most} of ${maxBytes}`)
    assert(most > maxBytes / 3, `${most} of ${maxBytes}`)
  }
})
