import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../../../src/index/logs/logSearchIndex.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { describeIndex } from '../../../src/index/segments/indexSummary.js'
import { rebuildIndex } from '../../../src/index/segments/reindex.js'
import { verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { THOROUGH } from '../../support/thorough.js'
import { asPlaced, expectedMatches, FIRST_BLOCK, randomBlocks, randomFilter, textOf } from '../logs/randomFilters.js'
import { type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from '../logs/randomLogs.js'

const BLOCKS = 700
const FEW_BLOCKS = 300
// A kill after one transaction in EVERY.
const EVERY = THOROUGH ? 1 : 5

function indexed(t: TestContext, seed: number, blocks = FEW_BLOCKS) {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(seed), blocks))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  sealAll(indexer)
  return { db, logs }
}

/** Takes what is stored, seals every full chunk and merges. */
function sealAll(indexer: ReturnType<typeof createLogIndexer>): void {
  indexer.add([])
  while (indexer.work(Number.POSITIVE_INFINITY) || indexer.sealNext());
}

/** Holds answers against a look at every log. */
function compare(source: ReturnType<typeof createLogSource>, logs: PlacedLog[], seed: number): void {
  const random = seededFractions(seed)
  for (let i = 0; i < 20; i++) {
    const filter = randomFilter(random, BLOCKS)
    const found = asPlaced(source.query(filter, { deadline: noDeadline, maxResults: 100_000 }))
    assert.deepEqual(found.map(textOf), expectedMatches(logs, filter).map(textOf), `seed ${seed}, filter ${i}`)
  }
}

const rowsOf = (db: Database, table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!

test('a rebuilt index is whole, and answers are right after each of its transactions', async (t) => {
  const { db, logs } = indexed(t, 21, BLOCKS)
  const before = describeIndex(db, LOG_SEARCH_INDEX)
  const verified = verifyIndex(db, LOG_SEARCH_INDEX)
  const source = createLogSource(db)
  const reported: number[] = []
  const update = (done: number) => {
    reported.push(done)
    // A kill here would leave exactly this.
    if (reported.length % EVERY === 0) assert.equal(verifyIndex(db, LOG_SEARCH_INDEX).items, done)
    if (reported.length % (9 * EVERY) === 1) compare(source, logs, reported.length)
  }
  const summary = await rebuildIndex(db, LOG_SEARCH_INDEX, { progress: { ...noProgress, update } })
  const { sealed, tail } = before
  assert.deepEqual(summary, { segments: verified.segments, sealed, tail, interrupted: false })
  assert.equal(reported[0], 0, 'the old index goes first')
  assert.ok(new Set(reported).size > 40, 'chunk by chunk')
  assert.deepEqual(describeIndex(db, LOG_SEARCH_INDEX), before)
  assert.deepEqual(verifyIndex(db, LOG_SEARCH_INDEX), verified)
  compare(source, logs, 22)
  compare(createLogSource(db), logs, 23)
})

test('a rebuild that was ended early is completed by the next writer', async (t) => {
  const { db, logs } = indexed(t, 24)
  const stop = new AbortController()
  const update = (done: number) => {
    if (done >= 64 * 12) stop.abort()
  }
  const summary = await rebuildIndex(db, LOG_SEARCH_INDEX, { progress: { ...noProgress, update }, signal: stop.signal })
  assert.equal(summary.interrupted, true)
  assert.equal(summary.sealed, 64 * 12)
  assert.equal(summary.tail, logs.length - 64 * 12)
  compare(createLogSource(db), logs, 25)
  const next = createLogIndexer(db)
  assert.equal(next.isBehind(), true)
  sealAll(next)
  assert.equal(verifyIndex(db, LOG_SEARCH_INDEX).items, Math.floor(logs.length / 64) * 64)
  compare(createLogSource(db), logs, 26)
})

test('what is damaged or without its segment is gone after a rebuild', async (t) => {
  const { db, logs } = indexed(t, 27)
  const rows = { buckets: rowsOf(db, 'log_buckets'), big: rowsOf(db, 'log_big_postings') }
  db.exec("UPDATE log_buckets SET data = x'ffff' WHERE id % 3 = 0")
  db.exec('DELETE FROM log_segments')
  assert.throws(() => verifyIndex(db, LOG_SEARCH_INDEX), /has rows, but is not among the segments/)
  await rebuildIndex(db, LOG_SEARCH_INDEX, { progress: noProgress })
  assert.equal(verifyIndex(db, LOG_SEARCH_INDEX).items, Math.floor(logs.length / 64) * 64)
  assert.deepEqual({ buckets: rowsOf(db, 'log_buckets'), big: rowsOf(db, 'log_big_postings') }, rows)
  compare(createLogSource(db), logs, 28)
})

test('a database without logs is rebuilt to nothing', async (t) => {
  const summary = await rebuildIndex(temporaryDatabase(t), LOG_SEARCH_INDEX, { progress: noProgress })
  assert.deepEqual(summary, { segments: 0, sealed: 0, tail: 0, interrupted: false })
})
