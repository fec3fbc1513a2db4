import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { Log } from '../../../src/chain/eth/types.js'
import type { Database } from '../../../src/store/database.js'
import { DATABASE_FILE, openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openDatabaseFile } from '../../../src/store/pages/databaseFile.js'
import { createLogPages } from '../../../src/store/pages/logPages.js'
import { createLogRecordReader } from '../../../src/store/rows/logRecords.js'
import type { IdRange } from '../../../src/store/rows/rowFilter.js'
import { writeLogs } from '../../index/logs/randomLogs.js'
import type { SeededRandom } from '../../support/random.js'

/** Bytes of a long log's data: several pages. */
const LONG = 9_000

/** Blocks whose logs have all numbers of topics, some zero or short, and data of lengths around a word; with
 *  `longOneIn` one in that many logs is long. */
export function awkwardLogs(random: SeededRandom, count: number, { longOneIn = 0 } = {}): Log[][][] {
  const pick = (...choices: number[]) => choices[random.below(choices.length)]
  const bytes = (length: number, zeros: number) => {
    const value = random.bytes(length)
    return value.fill(0, 0, Math.min(zeros, length))
  }
  const log = (): Log => {
    const isLong = longOneIn > 0 && random.below(longOneIn) === 0
    const length = isLong ? LONG : pick(0, 1, 31, 32, 32, 33, 64, 130)
    return {
      address: new Uint8Array(20).fill(random.below(200)),
      topics: Array.from({ length: random.below(5) }, (_, i) =>
        i === 0 ? new Uint8Array(32).fill(random.below(200)) : bytes(32, pick(0, 1, 12, 31, 32)),
      ),
      data: bytes(length, pick(0, 0, 5, length)),
    }
  }
  return Array.from({ length: count }, () =>
    Array.from({ length: random.below(4) }, () => Array.from({ length: random.below(9) }, log)),
  )
}

/** Creates a database in `datadir` with pages of that many bytes and without automatic checkpoints. */
export function createPagedDatabase(datadir: string, pageBytes: number): Database {
  const db = openForWriting(datadir)
  db.pragma('journal_mode = DELETE')
  db.pragma(`page_size = ${pageBytes}`)
  db.exec('VACUUM')
  db.pragma('journal_mode = WAL')
  db.pragma('wal_autocheckpoint = 0')
  return db
}

/** Appends blocks. */
export function appendBlocks(db: Database, blocks: Log[][][]): void {
  writeLogs(db, db.prepare('SELECT ifnull(max(number) + 1, 0) FROM blocks').pluck().get() as number, blocks)
}

/** Removes the newest blocks with their rows, as a reorg does. */
export function removeBlocks(db: Database, count: number): void {
  db.transaction(() => {
    const newest = db.prepare('SELECT number, first_tx, first_log FROM blocks ORDER BY number DESC LIMIT 1')
    for (let i = 0; i < count; i++) {
      const block = newest.get() as { number: number; first_tx: number; first_log: number } | undefined
      if (block === undefined) return
      db.prepare('DELETE FROM blocks WHERE number = ?').run(block.number)
      db.prepare('DELETE FROM transactions WHERE id >= ?').run(block.first_tx)
      db.prepare('DELETE FROM logs WHERE id >= ?').run(block.first_log)
    }
  })()
}

/** Another connection for checkpoints, which does not wait for readers. */
export function openCheckpoints(datadir: string): Database {
  return new SqliteDatabase(join(datadir, DATABASE_FILE), { timeout: 0 })
}

/** A reading connection with both readers of records. */
export interface BothReaders {
  readonly db: Database
  /** Number of logs in the snapshot. */
  count(): number
  fromPages(range: IdRange): Buffer | undefined
  fromSql(range: IdRange): Buffer | undefined
}

/** Opens both readers of a database, which another connection of the process must have open. */
export function openBoth(datadir: string): BothReaders {
  const { file } = openDatabaseFile(join(datadir, DATABASE_FILE))!
  const db = openForReading(datadir)
  const pages = createLogPages(db, file)
  const sql = createLogRecordReader(db)
  const copy = (records: Uint8Array | undefined) => records && Buffer.from(records)
  const select = db.prepare<[], number>('SELECT ifnull(max(id) + 1, 0) FROM logs').pluck()
  return {
    db,
    count: () => select.get()!,
    fromPages: (range) => copy(pages.read(range)),
    fromSql: (range) => copy(sql.ofRange(range, { clauses: [], minTopics: 0 })),
  }
}

/** Compares records without printing them. */
export function isSame(records: Buffer | undefined, expected: Buffer | undefined): boolean {
  return records === undefined ? expected === undefined : expected !== undefined && records.equals(expected)
}

/** A range of at most `most` of the first `count` logs, not empty. */
export function randomRange(random: SeededRandom, count: number, most: number): IdRange {
  const from = random.below(count)
  return { from, to: Math.min(count, from + 1 + random.below(most)) }
}
