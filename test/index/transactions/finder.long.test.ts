import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { createTransactionFinder, type TransactionFinder } from '../../../src/index/transactions/finder.js'
import { createTransactionIndexer, TRANSACTION_INDEX } from '../../../src/index/transactions/transactionIndex.js'
import type { Database } from '../../../src/store/database.js'
import { createSegmentStore } from '../../../src/store/index/segmentStore.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { temporaryDatabase } from '../logs/randomLogs.js'
import { appendBlocks, FIRST_BLOCK, type PlacedTransaction } from './randomTransactions.js'

// Chunks of 64 transactions, so that a few thousand make segments of several levels.
const CHUNK_BITS = 6
const BLOCKS = 600
const FEW_BLOCKS = 300
// One transaction in EVERY is looked up at each stage.
const EVERY = THOROUGH ? 1 : 10

/** Transactions are found where they are, and hashes that differ in one bit, or in all, are not. */
function check(finder: TransactionFinder, transactions: readonly PlacedTransaction[], stage: string): void {
  const random = seededRandom(transactions.length)
  for (let at = random.below(EVERY); at < transactions.length; at += EVERY) {
    const { hash, blockNumber, index } = transactions[at]
    assert.deepEqual(finder.locate(hash), { blockNumber, index }, stage)
  }
  for (let i = 0; i < 500 / EVERY; i++) {
    const near = Uint8Array.from(transactions[random.below(transactions.length)].hash)
    near[random.below(32)] ^= 1 << random.below(8)
    assert.equal(finder.locate(near), undefined, stage)
    assert.equal(finder.locate(random.bytes(32)), undefined, stage)
  }
}

const states = (db: Database) => {
  const store = createSegmentStore(db, TRANSACTION_INDEX.tables)
  return {
    live: store.segments('live').map(({ level }) => level),
    building: store.segments('building').map(({ level }) => level),
    dropped: store.segments('dropped').length,
  }
}

test('finds every transaction at every stage of the index', (t) => {
  const db = temporaryDatabase(t)
  const reading = openForReading(dirname(db.name))
  t.after(() => void reading.close())
  const old = createTransactionFinder(reading) // lives through all of it, as a server's does
  const both = (stage: string, transactions: readonly PlacedTransaction[]) => {
    check(old, transactions, stage)
    check(createTransactionFinder(db), transactions, `${stage}, just opened`)
  }
  const random = seededRandom(1)
  assert.equal(old.locate(random.bytes(32)), undefined)
  const transactions = appendBlocks(db, random, BLOCKS)
  assert.ok(transactions.length > 64 * 64 + 100, `${transactions.length} transactions`)
  both('no index', transactions)

  const indexer = createTransactionIndexer(db, { chunkBits: CHUNK_BITS })
  both('tail only', transactions)
  indexer.add([])
  while (states(db).building.length === 0) indexer.step()
  both('half sealed', transactions)
  while (indexer.sealNext());
  const chunks = Math.floor(transactions.length / 64)
  assert.deepEqual(states(db), { live: Array(chunks).fill(0), building: [], dropped: 0 })
  both('sealed', transactions)

  const seen = new Set<number>()
  for (let step = 0; indexer.step(); step++) {
    if (step % 3_000 !== 450) continue
    both(`step ${step}`, transactions)
    for (const level of states(db).building) seen.add(level)
  }
  assert.deepEqual(Array.from(seen).sort(), [1, 2], 'some comparisons fell into merges')
  assert.equal(states(db).live[0], 2)
  both('merged', transactions)

  const more = appendBlocks(db, random, 20)
  both('new blocks', [...transactions, ...more])
  indexer.add(more.map(({ hash }) => hash))
  indexer.work(Number.POSITIVE_INFINITY)
  both('new blocks sealed', [...transactions, ...more])
})

test('after a reorg, transactions that are gone are not found, and those that came are', (t) => {
  const db = temporaryDatabase(t)
  const random = seededRandom(2)
  let held = appendBlocks(db, random, FEW_BLOCKS)
  const indexer = createTransactionIndexer(db, { chunkBits: CHUNK_BITS })
  indexer.add([])
  indexer.work(Number.POSITIVE_INFINITY)
  const reading = openForReading(dirname(db.name))
  t.after(() => void reading.close())
  const finder = createTransactionFinder(reading)
  for (const kept of [299, 297, 290, 150, 10]) {
    check(finder, held, `before the reorg to ${kept}`)
    const head = FIRST_BLOCK + kept - 1
    const gone = held.filter(({ blockNumber }) => blockNumber > head)
    db.transaction(() => {
      createChainWriter(db).rewindTo(head)
      indexer.truncate()
    })()
    held = held.filter(({ blockNumber }) => blockNumber <= head)
    const came = appendBlocks(db, random, gone.length > 30 ? 3 : 1)
    // One that comes again in another place.
    const again = gone.at(-1)
    const next = came.at(-1)
    if (again && next) {
      db.prepare('UPDATE transactions SET hash = ? WHERE hash = ?').run(again.hash, next.hash)
      next.hash = again.hash
      gone.pop()
    }
    held.push(...came)
    check(finder, held, `after the reorg to ${kept}`)
    for (const { hash } of gone) assert.equal(finder.locate(hash), undefined)
    indexer.add(came.map(({ hash }) => hash))
    indexer.work(Number.POSITIVE_INFINITY)
    check(finder, held, `indexed after the reorg to ${kept}`)
    for (const { hash } of gone) assert.equal(finder.locate(hash), undefined)
  }
})

for (const [what, level] of [
  ['seal', 0],
  ['merge', 1],
] as const) {
  test(`a ${what} that was cut off is taken over by the next process`, (t) => {
    const db = temporaryDatabase(t)
    const transactions = appendBlocks(db, seededRandom(3), FEW_BLOCKS / 2)
    const first = createTransactionIndexer(db, { chunkBits: CHUNK_BITS })
    first.add([])
    while (states(db).building[0] !== level) first.step()
    for (let step = 0; step < 5; step++) first.step()
    assert.deepEqual(states(db).building, [level])
    const finder = createTransactionFinder(db)
    check(finder, transactions, 'cut off')
    const second = createTransactionIndexer(db)
    second.add([])
    check(finder, transactions, 'taken over')
    second.work(Number.POSITIVE_INFINITY)
    assert.deepEqual({ ...states(db), live: [] }, { live: [], building: [], dropped: 0 })
    check(finder, transactions, 'done by the second')
  })
}

test('a hash that is held twice is found where it came last', (t) => {
  const db = temporaryDatabase(t)
  const transactions = appendBlocks(db, seededRandom(4), 200)
  const [first, last] = [transactions[5], transactions[transactions.length - 3]]
  db.prepare('UPDATE transactions SET hash = ? WHERE hash = ?').run(first.hash, last.hash)
  const place = { blockNumber: last.blockNumber, index: last.index }
  assert.deepEqual(createTransactionFinder(db).locate(first.hash), place)
  const indexer = createTransactionIndexer(db, { chunkBits: CHUNK_BITS })
  indexer.add([])
  while (indexer.sealNext());
  assert.deepEqual(createTransactionFinder(db).locate(first.hash), place)
  indexer.work(Number.POSITIVE_INFINITY)
  assert.deepEqual(createTransactionFinder(db).locate(first.hash), place)
})

test('takes the tail into memory in slices, and looks up before it is done', (t) => {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const random = seededRandom(5)
  const transactions = appendBlocks(db, random, 1_500)
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const finder = createTransactionFinder(reading)
  let slices = 1
  while (!finder.refresh(0)) slices++
  assert.ok(slices > transactions.length / 1_024 - 1 && slices < transactions.length / 1_024 + 2, `${slices} slices`)
  assert.equal(finder.refresh(0), true)
  check(finder, transactions, 'taken in slices')
  const late = createTransactionFinder(reading)
  assert.equal(late.refresh(0), false)
  check(late, transactions, 'looked up in between')
})
