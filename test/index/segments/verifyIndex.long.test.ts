import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../../../src/index/logs/logSearchIndex.js'
import { IndexFault, verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { UsageError } from '../../../src/lib/errors.js'
import type { Database } from '../../../src/store/database.js'
import { createSegmentStore } from '../../../src/store/index/segmentStore.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { THOROUGH } from '../../support/thorough.js'
import { FIRST_BLOCK, randomBlocks } from '../logs/randomFilters.js'
import { seededFractions, temporaryDatabase, writeLogs } from '../logs/randomLogs.js'

const CHUNK_BITS = 6
const BUCKET_SPACE = 2 ** 20
const POSTING_SPACE = 2 ** 26

/** Returns a database with random logs of `blocks` blocks, in segments of all levels that these make. */
function indexed(t: TestContext, { blocks, seed, merge = true }: { blocks: number; seed: number; merge?: boolean }) {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(seed), blocks))
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  while (indexer.sealNext());
  if (merge) indexer.work(Number.POSITIVE_INFINITY)
  return { db, logs, indexer }
}

/** Does harm, looks for what is found of it, and takes it back. */
function faultOf(db: Database, harm: () => void, options: { segment?: number } = {}): IndexFault {
  db.exec('BEGIN')
  try {
    harm()
    verifyIndex(db, LOG_SEARCH_INDEX, options)
  } catch (error) {
    assert.ok(error instanceof IndexFault, String(error))
    return error
  } finally {
    db.exec('ROLLBACK')
  }
  assert.fail('nothing was found')
}

test('a right index verifies at every stage', (t) => {
  const { db, logs, indexer } = indexed(t, { blocks: 900, seed: 3, merge: false })
  const chunks = Math.floor(logs.length / 64)
  // Address, topics, and for each number of topics that there is a key that says so; twice the same is one key.
  const postings = logs.slice(0, chunks * 64).reduce((sum, { topics }) => sum + 1 + 2 * topics.length, 0)
  const reported: number[] = []
  const sealed = verifyIndex(db, LOG_SEARCH_INDEX, { onProgress: (done) => reported.push(done) })
  assert.deepEqual(sealed, { segments: chunks, items: chunks * 64, postings })
  assert.deepEqual(
    reported,
    Array.from({ length: chunks }, (_, i) => (i + 1) * 64),
  )
  for (let step = 0; indexer.work(0); step++) {
    if (step % 2_500 === 450) assert.equal(verifyIndex(db, LOG_SEARCH_INDEX).postings, postings, `step ${step}`)
  }
  const merged = verifyIndex(db, LOG_SEARCH_INDEX)
  assert.ok(merged.segments < 20)
  assert.deepEqual({ ...merged, segments: chunks }, sealed)
  db.transaction(() => {
    createChainWriter(db).rewindTo(FIRST_BLOCK + 400)
    indexer.truncate()
    indexer.work(Number.POSITIVE_INFINITY)
  })()
  assert.ok(verifyIndex(db, LOG_SEARCH_INDEX).segments > 0)
})

test('a database without an index, and one with no more than a tail, verify', (t) => {
  const db = temporaryDatabase(t)
  assert.deepEqual(verifyIndex(db, LOG_SEARCH_INDEX), { segments: 0, items: 0, postings: 0 })
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(4), 5))
  createLogIndexer(db, { chunkBits: 10 }).add([])
  assert.deepEqual(verifyIndex(db, LOG_SEARCH_INDEX), { segments: 0, items: 0, postings: 0 })
})

test('any byte flipped in a bucket is found in that bucket', (t) => {
  const { db } = indexed(t, { blocks: 150, seed: 5 })
  const random = seededFractions(6)
  const rows = db.prepare<[], { id: number; data: Buffer }>('SELECT id, data FROM log_buckets ORDER BY id').all()
  const update = db.prepare('UPDATE log_buckets SET data = ? WHERE id = ?')
  for (let i = 0; i < 60; i++) {
    const { id, data } = rows[Math.floor(random() * rows.length)]
    const flipped = Buffer.from(data)
    const at = Math.floor(random() * data.length)
    flipped[at] ^= 1 << Math.floor(random() * 8)
    const segment = Math.floor(id / BUCKET_SPACE)
    const { place, message } = faultOf(db, () => update.run(flipped, id), { segment })
    assert.deepEqual(
      [place.segment, place.bucket],
      [segment, id % BUCKET_SPACE],
      `byte ${at} of ${data.toString('hex')}`,
    )
    assert.ok(message.includes(`segment ${segment}, bucket ${id % BUCKET_SPACE}`), message)
  }
})

for (const [blocks, flips] of [
  ...(THOROUGH ? [[700, 12]] : []),
  [900, 6], // with a segment of the highest level
]) {
  test(`any byte flipped in large postings of ${blocks} blocks is found with their key`, (t) => {
    const { db } = indexed(t, { blocks, seed: 7 })
    const random = seededFractions(8)
    const rows = db
      .prepare<[], { id: number; data: Buffer }>('SELECT id, data FROM log_big_postings')
      .all()
      .filter(({ id }) => id % POSTING_SPACE !== POSTING_SPACE - 1) // not the tables of pairs
    assert.ok(rows.length >= 5)
    const update = db.prepare('UPDATE log_big_postings SET data = ? WHERE id = ?')
    for (let i = 0; i < flips; i++) {
      const { id, data } = rows[Math.floor(random() * rows.length)]
      const flipped = Buffer.from(data)
      flipped[Math.floor(random() * data.length)] ^= 1 << Math.floor(random() * 8)
      const segment = Math.floor(id / POSTING_SPACE)
      const { place } = faultOf(db, () => update.run(flipped, id), { segment })
      assert.equal(place.segment, segment)
      assert.ok(place.bucket !== undefined && place.fingerprint !== undefined)
    }
    const { id } = rows[0]
    const gone = faultOf(db, () => db.prepare('DELETE FROM log_big_postings WHERE id = ?').run(id))
    assert.match(gone.problem, /large postings 0 are missing/)
  })
}

test('a log that lost a key, and one that was given a strange one, are named', (t) => {
  const { db } = indexed(t, { blocks: 300, seed: 9, merge: false })
  const update = db.prepare('UPDATE logs SET topic1 = ?, topic0_id = 1 WHERE id = ?')
  const id = 64 * 3 + 17
  // The row changes, not the index: its new key is in no bucket, or its old one in one too much.
  const changed = faultOf(db, () => update.run(Buffer.from('a topic of no other log'), id))
  assert.equal(changed.place.itemId, id)
  const missing = faultOf(db, () => db.prepare('DELETE FROM logs WHERE id = ?').run(id))
  assert.match(missing.message, /63 of the 64 rows of logs from 192 on/)
})

test('missing and strange rows are found', (t) => {
  const { db, logs } = indexed(t, { blocks: 300, seed: 10 })
  const [segment] = createSegmentStore(db, LOG_SEARCH_INDEX.tables).segments('live')
  const bucket = db
    .prepare<[number], number>('SELECT id FROM log_buckets WHERE id >= ? LIMIT 1 OFFSET 40')
    .pluck()
    .get(segment.id * BUCKET_SPACE)!
  const gone = faultOf(db, () => db.prepare('DELETE FROM log_buckets WHERE id = ?').run(bucket))
  assert.deepEqual([gone.place.segment, gone.place.bucket], [segment.id, bucket % BUCKET_SPACE])
  assert.equal(gone.problem, 'the bucket is missing')
  assert.ok(gone.place.itemId! < logs.length)
  const insert = db.prepare("INSERT INTO log_buckets VALUES (?, x'0000')")
  const extra = faultOf(db, () => insert.run(segment.id * BUCKET_SPACE + BUCKET_SPACE - 1))
  assert.match(extra.problem, /^1 buckets and 0 large postings more/)
  const stray = faultOf(db, () => insert.run(9_999 * BUCKET_SPACE))
  assert.deepEqual(stray.place, { segment: 9_999 })
})

test('gaps, overlaps and segments beyond the logs are found', (t) => {
  const { db, logs } = indexed(t, { blocks: 300, seed: 11, merge: false })
  const live = createSegmentStore(db, LOG_SEARCH_INDEX.tables).segments('live')
  const run = (sql: string, ...values: number[]) => faultOf(db, () => db.prepare(sql).run(...values)).message
  const last = live[live.length - 1]
  assert.match(run("UPDATE log_segments SET state = 'dropped' WHERE id = ?", live[2].id), /chunk 2 is in no segment/)
  assert.match(run('UPDATE log_segments SET first_chunk = 1 WHERE id = ?', live[2].id), /chunk 1 is in two segments/)
  assert.match(run('UPDATE log_segments SET level = 1 WHERE id = ?', live[0].id), /chunk 1 is in two segments/)
  const beyond = `INSERT INTO log_segments (level, first_chunk, state) VALUES (0, ?, 'live')`
  assert.match(run(beyond, last.firstChunk + 1), new RegExp(`the logs fill ${Math.floor(logs.length / 64)}`))
  assert.match(run("DELETE FROM meta WHERE key = 'log_index'"), /settings of the index are gone|the logs fill 0/)
  assert.throws(() => verifyIndex(db, LOG_SEARCH_INDEX, { segment: 12_345 }), UsageError)
  assert.equal(verifyIndex(db, LOG_SEARCH_INDEX, { segment: last.id }).segments, 1)
})
