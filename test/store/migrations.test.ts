import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { createChainReader } from '../../src/store/chain/chainReader.js'
import { createChainWriter } from '../../src/store/chain/chainWriter.js'
import { DATABASE_FILE, openForReading, packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { blockAt } from '../support/blocks.js'
import { temporaryDirectory } from '../support/temporary.js'

const LARGE = 2n ** 64n - 1n

test('a database of before wide timestamps keeps its times, and takes wide ones', (t) => {
  const datadir = temporaryDirectory(t)
  const append = (number: number, timestamp: bigint) => {
    const db = openForWriting(datadir)
    const writer = createChainWriter(db)
    const block = blockAt(number)
    writer.begin()
    writer.insertBlock({ ...block, header: { ...block.header, timestamp } }, [], 0n)
    writer.commit()
    db.close()
  }
  append(0, 1_700_000_000n)
  leaveAtMigration(datadir, 7)
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const reader = createChainReader(reading)
  assert.equal(reader.blockByNumber(0)!.header.timestamp, 1_700_000_000n)
  append(1, LARGE)
  assert.deepEqual(
    [0, 1].map((number) => reader.blockByNumber(number)!.header.timestamp),
    [1_700_000_000n, LARGE],
  )
  const rows = reading.prepare('SELECT timestamp, typeof(timestamp) AS type, time FROM v_blocks').all()
  assert.deepEqual(rows, [
    { timestamp: 1_700_000_000, type: 'integer', time: '2023-11-14 22:13:20' },
    { timestamp: LARGE.toString(), type: 'text', time: null },
  ])
  assert.deepEqual(reading.pragma('integrity_check'), [{ integrity_check: 'ok' }])
})

/** Replaces the database by one that only the first `count` migrations made, with the rows of the columns that both have. */
function leaveAtMigration(datadir: string, count: number): void {
  const path = join(datadir, DATABASE_FILE)
  const newer = join(datadir, 'newer.db')
  const whole = new SqliteDatabase(path)
  whole.exec(`VACUUM INTO '${newer}'`)
  whole.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  const old = new SqliteDatabase(path)
  const folder = join(datadir, 'migrations')
  cpSync(packagePath('migrations'), folder, { recursive: true })
  const journalPath = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(readFileSync(journalPath, 'utf8')) as { entries: unknown[] }
  writeFileSync(journalPath, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }))
  migrate(drizzle(old), { migrationsFolder: folder })
  old.exec(`ATTACH '${newer}' AS newer`)
  const columnsOf = old.prepare<[string, string], string>('SELECT name FROM pragma_table_info(?, ?)').pluck()
  const columns = columnsOf.all('blocks', 'main').filter((name) => columnsOf.all('blocks', 'newer').includes(name))
  old.exec(`INSERT INTO blocks (${columns.join()}) SELECT ${columns.join()} FROM newer.blocks`)
  old.close()
}
