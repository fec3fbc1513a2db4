import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { DATABASE_FILE, packagePath } from '../../../src/store/open.js'

/** Replaces the closed database of `datadir` by one that only the first `count` migrations made. It keeps the rows, without
 *  the tables and columns that later migrations added. */
export function leaveAtMigration(datadir: string, count: number): void {
  const path = join(datadir, DATABASE_FILE)
  const newer = join(datadir, 'newer.db')
  const whole = new SqliteDatabase(path)
  whole.exec(`VACUUM INTO '${newer}'`)
  whole.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  const old = new SqliteDatabase(path)
  old.unsafeMode(true) // 0007_wide_timestamps changes sqlite_schema
  migrate(drizzle(old), { migrationsFolder: firstMigrations(datadir, count) })
  old.unsafeMode(false)
  old.exec(`ATTACH '${newer}' AS newer`)
  const tables = old
    .prepare<[], string>(
      `SELECT name FROM main.sqlite_schema JOIN newer.sqlite_schema USING (type, name)
       WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> '__drizzle_migrations'`,
    )
    .pluck()
    .all()
  const columnsOf = old.prepare<[string, string], string>('SELECT name FROM pragma_table_info(?, ?)').pluck()
  for (const table of tables) {
    const kept = columnsOf.all(table, 'newer')
    const columns = columnsOf
      .all(table, 'main')
      .filter((name) => kept.includes(name))
      .map((name) => `"${name}"`)
      .join()
    // Some migrations fill a table themselves.
    old.exec(`REPLACE INTO main."${table}" (${columns}) SELECT ${columns} FROM newer."${table}"`)
  }
  old.close()
  rmSync(newer)
}

function firstMigrations(datadir: string, count: number): string {
  const folder = join(datadir, 'migrations')
  cpSync(packagePath('migrations'), folder, { recursive: true })
  const journalPath = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(readFileSync(journalPath, 'utf8')) as { entries: unknown[] }
  writeFileSync(journalPath, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }))
  return folder
}
