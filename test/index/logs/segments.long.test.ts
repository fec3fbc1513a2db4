import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../../../src/index/logs/logSearchIndex.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import type { Database } from '../../../src/store/database.js'
import { createSegmentStore } from '../../../src/store/index/segmentStore.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { THOROUGH } from '../../support/thorough.js'
import { asPlaced, expectedMatches, FIRST_BLOCK, randomBlocks, randomFilter, textOf } from './randomFilters.js'
import { type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'

// Chunks of 64 logs, so that a few thousand logs make segments of all three levels.
const CHUNK_BITS = 6
const BLOCKS = 900
const FEW_BLOCKS = 300
// At each stage.
const FILTERS = THOROUGH ? 80 : 12

/** Holds every answer to random filters against a look at every log. */
function compare(db: Database, logs: PlacedLog[], stage: string, seed: number, blocks = BLOCKS): void {
  const random = seededFractions(seed)
  const source = createLogSource(db)
  let results = 0
  for (let i = 0; i < FILTERS; i++) {
    const filter = randomFilter(random, blocks)
    const expected = expectedMatches(logs, filter)
    const found = asPlaced(source.query(filter, { deadline: noDeadline, maxResults: 100_000 }))
    results += found.length
    assert.deepEqual(found.map(textOf), expected.map(textOf), `${stage}, filter ${i}`)
  }
  assert.ok(results > (40 * FILTERS * blocks) / BLOCKS, `${stage}: the filters must meet something`)
}

const states = (db: Database) => {
  const store = createSegmentStore(db, LOG_SEARCH_INDEX.tables)
  return {
    live: store.segments('live').map(({ level }) => level),
    building: store.segments('building').length,
    dropped: store.segments('dropped').length,
  }
}

test('answers are the same at every stage of the index', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(3), BLOCKS))
  assert.ok(logs.length > 64 * 66, `${logs.length} logs`)
  compare(db, logs, 'tail only', 1)

  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  assert.equal(indexer.isBehind(), true)
  indexer.add([])
  const chunks = Math.floor(logs.length / 64)
  while (states(db).building === 0) indexer.step()
  for (let step = 0; step < 30; step++) indexer.step()
  assert.deepEqual(states(db), { live: [], building: 1, dropped: 0 })
  compare(db, logs, 'the first chunk half sealed', 5)
  while (indexer.sealNext());
  assert.equal(indexer.isBehind(), false)
  assert.deepEqual(states(db), { live: Array(chunks).fill(0), building: 0, dropped: 0 })
  compare(db, logs, 'sealed', 2)

  // A merge goes bucket by bucket; after each step the index is whole.
  let seen = 0
  for (let step = 0; indexer.work(0); step++) {
    if (step % 1_700 !== 450) continue
    compare(db, logs, `step ${step}`, 100 + step)
    seen += states(db).building
  }
  assert.ok(seen > 0, 'some comparison fell into a merge')
  const { live, building, dropped } = states(db)
  assert.equal(building + dropped, 0)
  assert.equal(live[0], 2, 'the first 64 chunks are one segment')
  compare(db, logs, 'merged', 4)
})

test('a merge that was cut off is given up and begun again', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(5), FEW_BLOCKS))
  const first = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  first.add([])
  const building = () => createSegmentStore(db, LOG_SEARCH_INDEX.tables).segments('building')
  while (building()[0]?.level !== 1) first.step()
  for (let step = 0; step < 100; step++) first.step()
  assert.equal(building()[0].level, 1)
  // Another process takes over, as after a kill.
  const second = createLogIndexer(db)
  second.add([])
  assert.equal(states(db).building, 0)
  compare(db, logs, 'taken over', 6, FEW_BLOCKS)
  second.work(Number.POSITIVE_INFINITY)
  assert.deepEqual({ ...states(db), live: 0 }, { live: 0, building: 0, dropped: 0 })
  compare(db, logs, 'merged by the second', 7, FEW_BLOCKS)
})

test('a seal that was cut off is given up and begun again', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(12), FEW_BLOCKS))
  const first = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  first.add([])
  while (states(db).building === 0) first.step()
  const [begun] = createSegmentStore(db, LOG_SEARCH_INDEX.tables).segments('building')
  assert.equal(begun.level, 0)
  const second = createLogIndexer(db)
  second.add([])
  assert.ok(
    !createSegmentStore(db, LOG_SEARCH_INDEX.tables)
      .segments('building')
      .some(({ id }) => id === begun.id),
  )
  compare(db, logs, 'taken over', 13, FEW_BLOCKS)
  while (second.work(Number.POSITIVE_INFINITY) || second.sealNext());
  assert.equal(second.isBehind(), false)
  assert.equal(createSegmentStore(db, LOG_SEARCH_INDEX.tables).countRows(begun.id).buckets, 0)
  compare(db, logs, 'sealed by the second', 14, FEW_BLOCKS)
})

test('a rolled-back transaction leaves no trace in the index', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(8), FEW_BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  db.exec('BEGIN')
  indexer.add([])
  indexer.work(20)
  db.exec('ROLLBACK')
  indexer.clear()
  assert.deepEqual(states(db), { live: [], building: 0, dropped: 0 })
  compare(db, logs, 'after the rollback', 9, FEW_BLOCKS)
  indexer.add([])
  indexer.work(Number.POSITIVE_INFINITY)
  compare(db, logs, 'indexed after all', 10, FEW_BLOCKS)
})

test('a reorg below the segments drops what it touches and indexes the rest again', (t) => {
  const db = temporaryDatabase(t)
  const random = seededFractions(11)
  const blocks = randomBlocks(random, BLOCKS)
  const logs = writeLogs(db, FIRST_BLOCK, blocks)
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  indexer.add([])
  indexer.work(Number.POSITIVE_INFINITY)
  const source = createLogSource(db) // its tail has seen the old chain
  source.query(
    { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK, topics: [null] },
    { deadline: noDeadline, maxResults: 9e9 },
  )
  let held = logs
  for (const keptBlocks of [890, 700, 350, 20]) {
    const head = FIRST_BLOCK + keptBlocks - 1
    db.transaction(() => {
      createChainWriter(db).rewindTo(head)
      held = held.filter(({ blockNumber }) => blockNumber <= head)
      indexer.truncate()
    })()
    compareWith(source, held, head, keptBlocks)
    indexer.work(Number.POSITIVE_INFINITY)
    compareWith(source, held, head, keptBlocks + 1)
  }
})

function compareWith(source: ReturnType<typeof createLogSource>, logs: PlacedLog[], head: number, seed: number): void {
  const random = seededFractions(seed)
  for (let i = 0; i < FILTERS; i++) {
    const filter = randomFilter(random, head - FIRST_BLOCK + 1)
    const found = asPlaced(source.query(filter, { deadline: noDeadline, maxResults: 100_000 }))
    assert.deepEqual(found.map(textOf), expectedMatches(logs, filter).map(textOf), `head ${head}, filter ${i}`)
  }
}
