import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../../../src/index/logs/logSearchIndex.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { createLogTrace } from '../../../src/index/logs/trace.js'
import { pairsOfChunk } from '../../../src/index/segments/buildPairs.js'
import { readIndexSettings } from '../../../src/index/segments/indexSettings.js'
import { createKeyHasher } from '../../../src/index/segments/keyHash.js'
import {
  compareKeys,
  createPairTable,
  encodePairs,
  type HashedKey,
  MAX_PAIRED_KEYS,
  openPairs,
  setCoOccurring,
} from '../../../src/index/segments/keyPairs.js'
import { IndexFault, verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { trimLeft } from '../../../src/lib/bytes.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { chunksOf, createSegmentStore, type Segment } from '../../../src/store/index/segmentStore.js'
import type { IndexedLog } from '../../../src/store/rows/types.js'
import { expectedMatches, FIRST_BLOCK, randomBlocks } from '../logs/randomFilters.js'
import { type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from '../logs/randomLogs.js'

const CHUNK_BITS = 6
const POSTING_SPACE = 2 ** 26

function indexed(t: { after(callback: () => void | Promise<void>): void }, seed: number, merge: boolean) {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(seed), 900))
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  while (indexer.sealNext());
  if (merge) indexer.work(Number.POSITIVE_INFINITY)
  return { db, logs, store: createSegmentStore(db, LOG_SEARCH_INDEX.tables) }
}

/** For tests that leave it as it was. */
const merged = indexed({ after }, 21, true)

const nameOf = ({ high, low }: HashedKey) => `${high}/${low}`

/** The names of a log's keys of address and topics. */
function keyNames(hasher: ReturnType<typeof createKeyHasher>, { address, topics }: IndexedLog): string[] {
  return [address, ...topics].map((value, position) => {
    hasher.hashBytes(position, position === 0 ? value : trimLeft(value))
    return nameOf(hasher)
  })
}

test('a table gives back which keys are together', () => {
  const random = seededFractions(1)
  for (const n of [0, 1, 2, 3, 17, MAX_PAIRED_KEYS]) {
    const keys = Array.from({ length: n }, () => ({
      high: Math.floor(random() * 2 ** 32),
      low: Math.floor(random() * 2 ** 10),
    })).sort(compareKeys)
    const table = createPairTable(keys)
    const together = new Set<string>()
    for (let j = 1; j < n; j++) {
      for (let i = 0; i < j; i++) {
        if (random() < 0.5) continue
        setCoOccurring(table, i, j)
        together.add(`${i} ${j}`)
      }
    }
    const blob = encodePairs(table)
    const stored = openPairs(blob)
    assert.equal(stored.count, n)
    for (let j = 0; j < n; j++) {
      assert.deepEqual(stored.key(j), keys[j])
      assert.equal(stored.indexOf(keys[j]), j)
      for (let i = 0; i <= j; i++) {
        const expected = i === j || together.has(`${i} ${j}`)
        if (stored.coOccur(i, j) !== expected || stored.coOccur(j, i) !== expected) assert.fail(`${i} and ${j}`)
      }
    }
    assert.equal(stored.indexOf({ high: 5, low: 1_023 }), -1)
    assert.throws(() => openPairs(Buffer.concat([blob, Buffer.from([0])])), RangeError)
  }
})

test('only the most frequent keys of a chunk are in its table', () => {
  const frequent = Array.from({ length: 700 }, (_, i) => ({
    high: 2 ** 32 - 1 - i,
    low: i,
    positions: Uint16Array.from({ length: 2 + (i % 700) }, (_, k) => k),
  }))
  const steps = pairsOfChunk(frequent, 1_024)
  let paused = 0
  for (;;) {
    const step = steps.next()
    if (step.done) {
      const pairs = openPairs(encodePairs(step.value))
      assert.equal(pairs.count, MAX_PAIRED_KEYS)
      assert.equal(pairs.indexOf({ high: 2 ** 32 - 1, low: 0 }), -1, 'the rarest')
      const last = pairs.indexOf({ high: 2 ** 32 - 1 - 699, low: 699 })
      assert.ok(last !== -1 && pairs.coOccur(last, 100))
      break
    }
    paused++
  }
  assert.ok(paused > 3, 'it goes in steps')
})

for (const merge of [false, true]) {
  test(`no pair of keys that a log has is denied by ${merge ? 'merged' : 'new'} segments`, (t) => {
    const { db, logs, store } = merge ? merged : indexed(t, 21, false)
    const hasher = createKeyHasher(readIndexSettings(db)!.secret)
    let denied = 0
    let spare = 0
    for (const segment of store.segments('live')) {
      const pairs = openPairs(store.pairs(segment.id)!)
      const together = new Set<string>()
      for (const log of logsOf(logs, segment)) {
        const places = keyNames(hasher, log).map((name) => {
          const [high, low] = name.split('/').map(Number)
          return pairs.indexOf({ high, low })
        })
        for (const i of places) for (const j of places) if (i !== -1 && j !== -1) together.add(`${i} ${j}`)
      }
      const values = new Set(logsOf(logs, segment).flatMap((log) => keyNames(hasher, log)))
      for (let i = 0; i < pairs.count; i++) {
        for (let j = 0; j < pairs.count; j++) {
          const known = [i, j].every((k) => values.has(nameOf(pairs.key(k)))) // not one that counts topics
          if (together.has(`${i} ${j}`)) assert.ok(pairs.coOccur(i, j), `segment ${segment.id}: ${i} and ${j}`)
          else if (!pairs.coOccur(i, j)) denied++
          else if (known && i !== j) spare++
        }
      }
    }
    assert.ok(denied > 1_000, `${denied} pairs denied`)
    if (!merge) assert.equal(spare, 0, 'a new segment knows exactly')
    assert.ok(spare < denied, `${spare} pairs said to be together that are not, ${denied} denied`)
  })
}

function logsOf(logs: PlacedLog[], { firstChunk, level }: Segment): PlacedLog[] {
  return logs.slice(firstChunk * 64, (firstChunk + chunksOf(level)) * 64)
}

test('two frequent values that no log has together are answered without reading postings', () => {
  const { db, logs } = merged
  const source = createLogSource(db)
  const ask = (address: Uint8Array, topic: Uint8Array) => {
    const filter = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + 899, addresses: [address], topics: [null, [topic]] }
    const trace = createLogTrace()
    const { count } = source.query(filter, { deadline: noDeadline, maxResults: 100_000, trace })
    assert.equal(count, expectedMatches(logs, filter).length)
    return { count, apart: trace.facts.segments.filter(({ disjoint }) => disjoint).length }
  }
  const addresses = mostFrequent(logs.map(({ address }) => address))
  const topics = mostFrequent(logs.flatMap((log) => log.topics.slice(1, 2)))
  let apart = 0
  for (const address of addresses) for (const topic of topics) apart += ask(address, topic).apart
  assert.ok(apart > 0, 'some segment knew')
})

function mostFrequent(values: Uint8Array[]): Uint8Array[] {
  const counts = new Map<string, number>()
  for (const value of values) {
    const name = Buffer.from(value).toString('hex')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const sorted = Array.from(counts).sort((a, b) => b[1] - a[1])
  return sorted.slice(0, 40).map(([name]) => new Uint8Array(Buffer.from(name, 'hex')))
}

test('a merge of segments without tables says nothing wrong', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(23), 450))
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  while (indexer.sealNext());
  const store = createSegmentStore(db, LOG_SEARCH_INDEX.tables)
  const remove = db.prepare('DELETE FROM log_big_postings WHERE id = ?')
  for (const [i, { id }] of store.segments('live').entries()) {
    if (i < 8 || i % 3 === 0) remove.run((id + 1) * POSTING_SPACE - 1)
  }
  indexer.work(Number.POSITIVE_INFINITY)
  assert.ok(verifyIndex(db, LOG_SEARCH_INDEX).segments > 0)
})

test('a table that denies a pair of a log is found, and one that is damaged', () => {
  const { db, store } = merged
  const random = seededFractions(25)
  for (const { id } of store.segments('live').slice(0, 6)) {
    const blob = Buffer.from(store.pairs(id)!)
    const { count } = openPairs(blob)
    const bitsAt = 2 + count * 6
    const update = db.prepare('UPDATE log_big_postings SET data = ? WHERE id = ?')
    const faultOf = (data: Buffer): string | undefined => {
      db.exec('BEGIN')
      try {
        update.run(data, (id + 1) * POSTING_SPACE - 1)
        verifyIndex(db, LOG_SEARCH_INDEX, { segment: id })
      } catch (error) {
        assert.ok(error instanceof IndexFault, String(error))
        assert.equal(error.place.segment, id)
        return error.problem
      } finally {
        db.exec('ROLLBACK')
      }
    }
    const denying = Buffer.from(blob).fill(0, bitsAt)
    assert.match(faultOf(denying) ?? '', /lacks key 0x[0-9a-f]{8}:[0-9a-f]{3} and key .* which are together/)
    assert.match(faultOf(blob.subarray(0, -1)) ?? '', /cannot be decoded/)
    const renamed = Buffer.from(blob)
    renamed[2 + Math.floor(random() * count) * 6] ^= 1
    assert.match(faultOf(renamed) ?? '', /a key of no item|not in order/)
    assert.equal(faultOf(blob), undefined)
  }
})
