import { randomFillSync } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'

const ROW_BYTES = 1_000_000

/** Fills a table of its own with random bytes until the database file has that size. */
export function growDatabase(datadir: string, bytes: number): void {
  const db = openForWriting(datadir)
  try {
    db.exec('CREATE TABLE bench_filler (bytes BLOB NOT NULL)')
    const insert = db.prepare('INSERT INTO bench_filler VALUES (?)')
    const row = Buffer.alloc(ROW_BYTES)
    for (let left = bytes - statSync(join(datadir, DATABASE_FILE)).size; left > 0; left -= ROW_BYTES) {
      insert.run(randomFillSync(row))
    }
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}
