import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { DATABASE_FILE } from '../../../src/store/open.js'

/** Makes the closed database of `datadir` one of an earlier build: `count` migrations were applied that this build does
 *  not have. */
export function markAsEarlierBuild(datadir: string, count: number): void {
  const db = new SqliteDatabase(join(datadir, DATABASE_FILE))
  db.exec('DELETE FROM __drizzle_migrations')
  const insert = db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
  for (let i = 0; i < count; i++) insert.run(`earlier ${i}`, 1_795_237_048_027 + i)
  db.close()
}
