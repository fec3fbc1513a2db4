import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { addLogRecords } from '../../../src/index/logs/addLogRecords.js'
import { LogColumnBuffers } from '../../../src/index/logs/logColumnBuffers.js'
import { createLogColumnWriter } from '../../../src/index/logs/logColumns.js'
import type { Database } from '../../../src/store/database.js'
import { createValueLookup } from '../../../src/store/dictionary.js'
import { createLogRecordReader } from '../../../src/store/rows/logRecords.js'
import { seededRandom } from '../../support/random.js'
import { THOROUGH } from '../../support/thorough.js'
import { textOf } from './randomFilters.js'
import { numberedBytes, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'
import { readColumns } from './readColumns.js'

const RUNS = THOROUGH ? 3_000 : 300

/** Every number of topics, with leading zeros or none, and data of lengths around a word and of some kilobytes. */
function awkwardBlocks(seed: number, count: number): Log[][][] {
  const random = seededFractions(seed)
  const upTo = (n: number) => Math.floor(random() * (n + 1))
  const pick = (choices: number[]) => choices[upTo(choices.length - 1)]
  const bytes = (length: number, zeros: number) =>
    Uint8Array.from({ length }, (_, i) => (i < zeros ? 0 : 1 + Math.floor(random() * 255)))
  const log = (): Log => {
    const length = random() < 0.01 ? 9_000 : pick([0, 1, 31, 32, 33, 63, 64, 65, 200])
    return {
      address: bytes(20, pick([0, 1, 19])),
      topics: Array.from({ length: upTo(4) }, () => bytes(32, pick([0, 1, 12, 31, 32]))),
      data: bytes(length, random() < 0.5 ? upTo(length) : pick([0, length])),
    }
  }
  return Array.from({ length: count }, () =>
    Array.from({ length: Math.floor(random() * 4) }, () => Array.from({ length: Math.floor(random() * 9) }, log)),
  )
}

/** Both ways to read records: WebAssembly with its way out, and TypeScript alone. */
function writersOf(db: Database) {
  const writer = createLogColumnWriter(db)
  const buffers = new LogColumnBuffers()
  const values = {
    addressOf: createValueLookup(db, 'addresses', { most: 100 }),
    topicOf: createValueLookup(db, 'topics', { most: 100 }),
  }
  return [
    { name: 'WebAssembly', add: writer.add, columns: writer.columns, clear: writer.clear },
    {
      name: 'TypeScript',
      add: (records: Uint8Array) => addLogRecords(buffers, records, values),
      columns: () => buffers.columns(),
      clear: () => buffers.truncate(0),
    },
  ]
}

test('columns of records in chunks of any length equal the logs', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, 5, awkwardBlocks(91, 300))
  const reader = createLogRecordReader(db)
  const random = seededRandom(92)
  for (const { name, add, columns, clear } of writersOf(db)) {
    for (const most of [3, 40, 700]) {
      clear()
      for (let from = 0; from < logs.length; ) {
        const count = 1 + random.below(most)
        const ids = logs.slice(from, from + count).map((_, i) => from + i)
        assert.ok(add(reader.byIds(ids)))
        from += count
      }
      const found = readColumns(columns())
      assert.deepEqual(found.map(textOf), logs.map(textOf), name)
      assert.ok(found.every(({ timestamp, blockNumber }) => timestamp === 12 * blockNumber))
    }
  }
})

test('records of a range begin with their block; without any log there are no rows', (t) => {
  const db = temporaryDatabase(t)
  const blocks = awkwardBlocks(93, 60).map((block) =>
    block.map((logs) => logs.filter(({ data }) => data.length < 8_192)),
  )
  const logs = writeLogs(db, 0, blocks)
  const reader = createLogRecordReader(db)
  for (const { name, add, columns } of writersOf(db)) {
    assert.ok(add(new Uint8Array(0)))
    for (let from = 0; from < logs.length; from += 37) {
      const records = reader.ofRange({ from, to: Math.min(from + 37, logs.length) }, { clauses: [], minTopics: 0 })
      assert.ok(add(records!))
    }
    assert.deepEqual(readColumns(columns()).map(textOf), logs.map(textOf), name)
  }
})

test('more logs than a call of the module takes are read, too', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [numberedBytes(2, 32)], data: new Uint8Array(32) }
  const logs = writeLogs(db, 0, [[Array(2_500).fill(log)]])
  const records = createLogRecordReader(db).byIds(logs.map((_, id) => id))
  for (const { add, columns } of writersOf(db)) {
    assert.ok(add(records))
    assert.equal(readColumns(columns()).length, 2_500)
  }
})

test('a timestamp beyond 32 bits is their maximum', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [], data: new Uint8Array(0) }
  writeLogs(db, 0, [[[log]]])
  for (const time of [2 ** 32 - 1, 2 ** 32, 2 ** 39]) {
    db.prepare('UPDATE blocks SET timestamp = ?').run(time)
    for (const { add, columns, clear } of writersOf(db)) {
      clear()
      assert.ok(add(createLogRecordReader(db).byIds([0])))
      assert.equal(readColumns(columns())[0].timestamp, 2 ** 32 - 1)
    }
  }
})

test('damaged records are refused or read within their bounds, and add nothing when refused', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, 0, awkwardBlocks(95, 12))
  const whole = Uint8Array.from(createLogRecordReader(db).byIds(logs.map((_, id) => id)))
  const random = seededRandom(96)
  const writers = writersOf(db)
  let refused = 0
  for (let run = 0; run < RUNS; run++) {
    const damaged = whole.slice(0, random.below(3) === 0 ? random.below(whole.length) : whole.length)
    for (let i = random.below(3); i >= 0; i--) damaged[random.below(damaged.length)] = random.below(256)
    for (const { name, add, columns, clear } of writers) {
      clear()
      assert.ok(add(whole))
      try {
        if (!add(damaged)) refused++
        else continue
      } catch (error) {
        // An id that no address or topic has.
        assert.match(String(error), /which the table (addresses|topics) lacks/)
        continue
      }
      assert.equal(columns().rows, logs.length)
      const different = readColumns(columns()).findIndex((log, i) => textOf(log) !== textOf(logs[i]))
      assert.equal(different, -1, `run ${run}: ${name}`)
    }
  }
  assert.ok(refused > 50, `${refused} refused`)
})

test('a log without a record, and a number that is not a code point, are refused', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [], data: new Uint8Array(0) }
  writeLogs(db, 0, [[[log]]])
  const reader = createLogRecordReader(db)
  for (const index of [0xfffd, 0x11_0000]) {
    db.prepare('UPDATE transactions SET id = ?').run(index)
    db.prepare('UPDATE logs SET tx_index = ?').run(index)
    for (const { add, columns } of writersOf(db)) {
      assert.equal(add(reader.byIds([0])), false)
      assert.equal(columns().rows, 0)
    }
  }
})
