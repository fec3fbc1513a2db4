import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createKeyHasher } from '../../../src/index/segments/keyHash.js'
import { createKeyRebuilder, takeBuckets } from '../../../src/index/segments/rebuiltKeys.js'
import { rebuildIndex } from '../../../src/index/segments/reindex.js'
import { IndexFault, verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { createTransactionFinder } from '../../../src/index/transactions/finder.js'
import {
  createTransactionIndexer,
  HASH_POSITION,
  TRANSACTION_INDEX,
} from '../../../src/index/transactions/transactionIndex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { createSegmentStore } from '../../../src/store/index/segmentStore.js'
import { seededRandom } from '../../support/random.js'
import { THOROUGH } from '../../support/thorough.js'
import { temporaryDatabase } from '../logs/randomLogs.js'
import { appendBlocks, type PlacedTransaction } from './randomTransactions.js'

const BUCKET_SPACE = 2 ** 24

function indexed(t: TestContext, { blocks, chunkBits }: { blocks: number; chunkBits: number }) {
  const db = temporaryDatabase(t)
  const transactions = appendBlocks(db, seededRandom(blocks), blocks)
  const indexer = createTransactionIndexer(db, { chunkBits })
  db.transaction(() => {
    while (indexer.sealNext());
    indexer.work(Number.POSITIVE_INFINITY)
  })()
  return { db, transactions }
}

function faultOf(db: Database, sql: string, ...values: unknown[]): IndexFault {
  db.exec('BEGIN')
  try {
    db.prepare(sql).run(...values)
    verifyIndex(db, TRANSACTION_INDEX)
  } catch (error) {
    assert.ok(error instanceof IndexFault, String(error))
    return error
  } finally {
    db.exec('ROLLBACK')
  }
  assert.fail('nothing was found')
}

function checkAll(db: Database, transactions: readonly PlacedTransaction[]): void {
  const finder = createTransactionFinder(db)
  for (const { hash, ...place } of transactions) assert.deepEqual(finder.locate(hash), place)
}

test('segments grow to levels that logs do not have', (t) => {
  // Chunks of four transactions: 512 of them are a segment of level 3.
  const { db, transactions } = indexed(t, { blocks: 170, chunkBits: 2 })
  const store = createSegmentStore(db, TRANSACTION_INDEX.tables)
  const [first] = store.segments('live')
  assert.equal(first.level, 3, `${transactions.length} transactions`)
  checkAll(db, transactions)
  const sealed = Math.floor(transactions.length / 4) * 4
  const verified = verifyIndex(db, TRANSACTION_INDEX)
  assert.deepEqual([verified.items, verified.postings], [sealed, sealed])
  assert.ok(store.countRows(first.id).buckets > 1_900, 'nearly every transaction has a bucket of its own')
})

test('the transaction index is verified, and what is wrong is named', async (t) => {
  const { db, transactions } = indexed(t, { blocks: THOROUGH ? 300 : 150, chunkBits: 6 })
  const sealed = Math.floor(transactions.length / 64) * 64
  const right = verifyIndex(db, TRANSACTION_INDEX)
  assert.deepEqual([right.items, right.postings], [sealed, sealed])
  const random = seededRandom(6)
  const rows = db.prepare<[], { id: number; data: Buffer }>('SELECT id, data FROM transaction_buckets').all()
  for (let i = 0; i < (THOROUGH ? 40 : 5); i++) {
    const { id, data } = rows[random.below(rows.length)]
    const flipped = Buffer.from(data)
    flipped[random.below(data.length)] ^= 1 << random.below(8)
    const { place, message } = faultOf(db, 'UPDATE transaction_buckets SET data = ? WHERE id = ?', flipped, id)
    assert.deepEqual([place.segment, place.bucket], [Math.floor(id / BUCKET_SPACE), id % BUCKET_SPACE])
    assert.match(message, /^transaction index, segment \d+, bucket \d+/)
  }
  const changed = faultOf(db, 'UPDATE transactions SET hash = ? WHERE id = 77', random.bytes(32))
  assert.equal(changed.place.itemId, 77)
  assert.match(changed.message, /transaction 77/)
  const gone = faultOf(db, 'DELETE FROM transactions WHERE id = 77')
  assert.match(gone.message, /63 of the 64 rows of transactions from 64 on can be read/)

  db.exec('DELETE FROM transaction_buckets')
  assert.throws(() => verifyIndex(db, TRANSACTION_INDEX), IndexFault)
  const summary = await rebuildIndex(db, TRANSACTION_INDEX, { progress: noProgress })
  assert.deepEqual(summary, {
    segments: right.segments,
    sealed,
    tail: transactions.length - sealed,
    interrupted: false,
  })
  assert.deepEqual(verifyIndex(db, TRANSACTION_INDEX), right)
  checkAll(db, transactions)
})

test('the keys of a segment in parts are those of the whole', (t) => {
  const db = temporaryDatabase(t)
  const transactions = appendBlocks(db, seededRandom(7), 60)
  const secret = [5, 6] as const
  const rebuild = createKeyRebuilder(db, TRANSACTION_INDEX, { secret, chunkBits: 6 })
  const segment = { id: 1, level: 1, firstChunk: 0, state: 'live' as const }
  const hasher = createKeyHasher(secret)
  const expected = transactions.slice(0, 512).map(({ hash }, i) => {
    hasher.hashBytes(HASH_POSITION, hash)
    // 13 bits of bucket, and what is left of 42.
    const bits = BigInt(hasher.high) * 1024n + BigInt(hasher.low)
    return `${bits >> 29n} ${bits & (2n ** 29n - 1n)} ${Math.floor(i / 64) * 65_536 + (i % 64)}`
  })
  for (const parts of [1, 8]) {
    const found: string[] = []
    for (let part = 0; part < parts; part++) {
      const chunks = rebuild(segment, { part, parts }, () => {})
      for (let i = 0; i < 1024 / parts; i++) {
        const first = (part * (1024 / parts) + i) * 8
        for (const [k, keys] of takeBuckets(chunks, i, 1).entries()) {
          for (const [fingerprint, ids] of keys) found.push(...ids.map((id) => `${first + k} ${fingerprint} ${id}`))
        }
      }
    }
    assert.deepEqual(found.sort(), expected.toSorted(), `${parts} parts`)
  }
})
