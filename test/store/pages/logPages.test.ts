import assert from 'node:assert/strict'
import { fstatSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATABASE_FILE } from '../../../src/store/open.js'
import { isFileOf, openDatabaseFile } from '../../../src/store/pages/databaseFile.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import {
  appendBlocks,
  awkwardLogs,
  createPagedDatabase,
  isSame,
  openBoth,
  openCheckpoints,
  randomRange,
  removeBlocks,
} from './pageChains.js'

const RUNS = THOROUGH ? 20 : 1

for (const pageBytes of [512, 4_096, 65_536]) {
  test(`records from pages of ${pageBytes} bytes are those of SQL`, (t) => {
    const random = seededRandom(pageBytes)
    const datadir = temporaryDirectory(t)
    const writer = createPagedDatabase(datadir, pageBytes)
    appendBlocks(writer, awkwardLogs(random, 300))
    writer.pragma('wal_checkpoint(TRUNCATE)')
    const both = openBoth(datadir)
    both.db.exec('BEGIN')
    const count = both.count()
    assert.ok(count > 1_000, `${count}`)
    for (let i = 0; i < 150 * RUNS; i++) {
      const range = randomRange(random, count, i % 3 === 0 ? 3 : 400)
      assert.ok(isSame(both.fromPages(range), both.fromSql(range)), `${range.from} ${range.to}`)
    }
    both.db.close()
    writer.close()
  })
}

test('a range with long data, outside a transaction, beyond the last log or without blocks is read by SQL', (t) => {
  const random = seededRandom(5)
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, 4_096)
  appendBlocks(writer, awkwardLogs(random, 200, { longOneIn: 100 }))
  writer.exec('DELETE FROM blocks WHERE number = 100')
  writer.pragma('wal_checkpoint(TRUNCATE)')
  const both = openBoth(datadir)
  const isLong = both.db.prepare('SELECT ifnull(max(data_length), 0) > 8192 FROM logs WHERE id >= ? AND id < ?').pluck()
  const hasBlocks = both.db
    .prepare(
      `SELECT ? - ? = sum(min(@to, first_log + n_logs) - max(first_log, @from)) FROM blocks
       WHERE first_log < @to AND first_log + n_logs > @from`,
    )
    .pluck()
  assert.equal(both.fromPages({ from: 0, to: 2 }), undefined)
  both.db.exec('BEGIN')
  const count = both.count()
  const found = { pages: 0, long: 0, missing: 0 }
  for (let i = 0; i < 150 * RUNS; i++) {
    const range = randomRange(random, count, 60)
    const records = both.fromPages(range)
    if (isLong.get(range.from, range.to) === 1) found.long++
    else if (hasBlocks.get(range.to, range.from, range) === 0) found.missing++
    else found.pages++
    const isRead = isLong.get(range.from, range.to) === 0 && hasBlocks.get(range.to, range.from, range) === 1
    assert.ok(isSame(records, isRead ? both.fromSql(range) : undefined), `${range.from} ${range.to}`)
  }
  assert.ok(found.pages > 50 && found.long > 10 && found.missing > 0, JSON.stringify(found))
  assert.equal(both.fromPages({ from: count - 1, to: count + 1 }), undefined)
  both.db.close()
  writer.close()
})

for (const blocks of [15, 100]) {
  test(`a snapshot of about ${blocks} blocks reads the same while others commit, reorganize and checkpoint`, (t) => {
    const random = seededRandom(blocks)
    const datadir = temporaryDirectory(t)
    const writer = createPagedDatabase(datadir, 512)
    appendBlocks(writer, awkwardLogs(random, blocks))
    writer.pragma('wal_checkpoint(TRUNCATE)')
    const checkpoints = openCheckpoints(datadir)
    const readers = [openBoth(datadir), openBoth(datadir)]
    const found = { pages: 0, sql: 0 }
    for (let step = 0; step < 1_000 * RUNS; step++) {
      const choice = random.below(20)
      const { db, count, fromPages, fromSql } = readers[random.below(2)]
      if (choice < 2) {
        removeBlocks(writer, random.below(blocks / 8 + 10))
        appendBlocks(writer, awkwardLogs(random, random.below(blocks / 8 + 10)))
      } else if (choice < 5) {
        checkpoints.pragma(`wal_checkpoint(${['PASSIVE', 'PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'][random.below(5)]})`)
      } else if (choice < 7) {
        db.exec(db.inTransaction ? 'COMMIT' : 'BEGIN')
      } else if (db.inTransaction && count() > 0) {
        const range = randomRange(random, count(), 20)
        const records = fromPages(range)
        found[records === undefined ? 'sql' : 'pages']++
        if (records !== undefined) assert.ok(isSame(records, fromSql(range)), `step ${step}`)
      }
    }
    assert.ok(found.pages > 60 * RUNS && found.sql > 60 * RUNS, JSON.stringify(found))
    for (const { db } of [...readers, { db: checkpoints }, { db: writer }]) db.close()
  })
}

test('pages whose newest content is in the write-ahead log are read by SQL until it is copied', (t) => {
  const random = seededRandom(3)
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, 512)
  appendBlocks(writer, awkwardLogs(random, 100))
  writer.pragma('wal_checkpoint(TRUNCATE)')
  const { db, count, fromPages, fromSql } = openBoth(datadir)
  const rangeOfAll = () => ({ from: count() - 200, to: count() })
  const inTransaction = <T>(work: () => T) => db.transaction(work)()
  assert.ok(inTransaction(() => fromPages(rangeOfAll())) !== undefined)
  appendBlocks(writer, awkwardLogs(random, 60)) // changes the root
  assert.equal(
    inTransaction(() => fromPages(rangeOfAll())),
    undefined,
  )
  const old = { from: 0, to: 200 }
  assert.ok(inTransaction(() => isSame(fromPages(old), fromSql(old))))
  writer.pragma('wal_checkpoint(PASSIVE)')
  assert.ok(inTransaction(() => isSame(fromPages(rangeOfAll()), fromSql(rangeOfAll()))))
  db.close()
  writer.close()
})

test('pages that left the table are not read by way of its old root', (t) => {
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, 512)
  const chainOf = (fill: number, length: number) => [
    [Array(200).fill({ address: new Uint8Array(20).fill(fill), topics: [], data: new Uint8Array(length).fill(fill) })],
  ]
  appendBlocks(writer, chainOf(1, 64))
  writer.pragma('wal_checkpoint(TRUNCATE)')
  removeBlocks(writer, 1)
  appendBlocks(writer, chainOf(2, 8)) // fewer pages, and those that are free keep the old rows
  const { db, fromPages, fromSql } = openBoth(datadir)
  db.exec('BEGIN')
  for (let from = 0; from < 200; from++) {
    const records = fromPages({ from, to: from + 1 })
    assert.ok(records === undefined || isSame(records, fromSql({ from, to: from + 1 })), `${from}`)
  }
  db.close()
  writer.close()
})

test('rows that change in place are read by SQL while they are in the write-ahead log', (t) => {
  const random = seededRandom(6)
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, 512)
  appendBlocks(writer, awkwardLogs(random, 100))
  writer.pragma('wal_checkpoint(TRUNCATE)')
  const { db, fromPages } = openBoth(datadir)
  writer.exec('UPDATE logs SET tx_index = 1 - tx_index WHERE id = 100 AND tx_index < 2')
  db.exec('BEGIN')
  const read = (from: number, to: number) => fromPages({ from, to }) !== undefined
  assert.deepEqual([read(0, 60), read(70, 130), read(100, 101), read(140, 200)], [true, false, false, true])
  db.close()
  writer.close()
})

test('another file at the path of the database is not taken for it', (t) => {
  const [datadir, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  const writers = [datadir, other].map((each) => createPagedDatabase(each, 4_096))
  for (const writer of writers) appendBlocks(writer, [[]])
  const path = join(datadir, DATABASE_FILE)
  const { file } = openDatabaseFile(path)!
  assert.ok(isFileOf(path, file))
  renameSync(join(other, DATABASE_FILE), path)
  assert.ok(!isFileOf(path, file))
  for (const writer of writers) writer.close()
})

test('descriptors are opened once, and closed when their files are removed and nothing reads them', (t) => {
  const [datadir, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  const writers = [datadir, other].map((each) => createPagedDatabase(each, 4_096))
  for (const writer of writers) appendBlocks(writer, [[]])
  const path = join(datadir, DATABASE_FILE)
  const [first, second] = [openDatabaseFile(path)!, openDatabaseFile(path)!]
  assert.deepEqual(first.file, second.file)
  const { ino } = statSync(path)
  const isOpen = () => {
    openDatabaseFile(join(other, DATABASE_FILE))!.release() // closes what can be closed
    try {
      return fstatSync(first.file.pages).ino === ino
    } catch {
      return false
    }
  }
  first.release()
  writers[0].close()
  rmSync(path)
  assert.ok(isOpen()) // the second reads it
  second.release()
  assert.ok(!isOpen())
  writers[1].close()
})

test('descriptors of a file that remains stay open', (t) => {
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, 4_096)
  appendBlocks(writer, [[]])
  const path = join(datadir, DATABASE_FILE)
  const { file, release } = openDatabaseFile(path)!
  release()
  const again = openDatabaseFile(path)!
  assert.deepEqual(again.file, file)
  again.release()
  writer.close()
})
