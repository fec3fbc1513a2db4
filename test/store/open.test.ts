import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import {
  DATABASE_FILE,
  DatabaseTooNew,
  findPackage,
  openAnySchema,
  openForReading,
  packagePath,
  requireCurrentSchema,
} from '../../src/store/open.js'
import { openForWriting, openSchemaAt } from '../../src/store/openForWriting.js'
import { spawnProgram } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const OTHER_USER = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const PROGRAM = packagePath('dist/cli/main.js')
/** The program is run as another user. */
const skip =
  isRoot && spawnSync('test', ['-r', PROGRAM], OTHER_USER).status === 0
    ? false
    : 'needs root, and a checkout in a folder that other users can read'
const modeOf = (path: string) => statSync(path).mode & 0o777

test('what is made, only the user may read', (t) => {
  const datadir = join(temporaryDirectory(t), 'new', 'data')
  const db = openForWriting(datadir)
  assert.equal(modeOf(datadir), 0o700)
  const names = readdirSync(datadir)
  for (const name of ['cairn.db', 'cairn.db-shm', 'cairn.db-wal', 'cairn.lock']) assert.ok(names.includes(name), name)
  for (const name of names) assert.equal(modeOf(join(datadir, name)), 0o600, name)
  db.close()
})

test("others' access to a lock that is there is taken, and that to a database is left", (t) => {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  for (const name of ['cairn.db', 'cairn.lock']) chmodSync(join(datadir, name), 0o644)
  openForWriting(datadir).close()
  assert.equal(modeOf(join(datadir, 'cairn.lock')), 0o600)
  assert.equal(modeOf(join(datadir, 'cairn.db')), 0o644)
})

test('a schema of a later version is refused by its number, for reading and for writing', (t) => {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const known = db.prepare<[], number>('SELECT count(*) FROM __drizzle_migrations').pluck().get()!
  db.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9999999999999)")
  db.close()
  const words = new RegExp(`schema version ${known + 1} is newer than this build's ${known}; upgrade Cairn`)
  assert.throws(() => openForWriting(datadir), { name: 'DatabaseTooNew', message: words })
  assert.throws(() => openForReading(datadir), DatabaseTooNew)
  const reading = openAnySchema(datadir)
  assert.throws(() => requireCurrentSchema(reading), DatabaseTooNew)
  reading.close()
})

/** Runs the built program as another user. */
function asOtherUser(...args: string[]) {
  return spawnProgram(process.execPath, [PROGRAM, ...args], OTHER_USER).ended
}

test('a directory that may not be written is named, with what to do', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  chmodSync(datadir, 0o755)
  const file = join(packagePath('fixtures/chain'), 'chain.rlp')
  const { code, stderr } = await asOtherUser('import', '--datadir', datadir, '--network', 'mainnet', file)
  assert.equal(code, 1)
  assert.match(stderr, /cannot be written: .*; make it writable for this user, or use another --datadir/)
})

test('a database in a read-only directory is read without a WAL, else there is a hint', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  chmodSync(join(datadir, DATABASE_FILE), 0o644)
  chmodSync(datadir, 0o755)
  const refused = await asOtherUser('verify', '--datadir', datadir)
  assert.equal(refused.code, 2, refused.stderr)
  assert.match(refused.stderr, /-shm beside it.*sqlite3 cairn\.db 'PRAGMA journal_mode = DELETE'/)
  const db = new SqliteDatabase(join(datadir, DATABASE_FILE))
  db.pragma('journal_mode = DELETE')
  db.close()
  const { code, stderr } = await asOtherUser('verify', '--datadir', datadir)
  assert.equal(code, 0, stderr)
})

test('another user cannot hold the lock', { skip: !isRoot }, async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  mkdirSync(datadir)
  chmodSync(datadir, 0o755)
  writeFileSync(join(datadir, 'cairn.lock'), '')
  chmodSync(join(datadir, 'cairn.lock'), 0o644)
  chownSync(join(datadir, 'cairn.lock'), 0, 0)
  openForWriting(datadir).close()
  const script = `require('fs').openSync(${JSON.stringify(join(datadir, 'cairn.lock'))}, 'r')`
  const { code, stderr } = await spawnProgram(process.execPath, ['-e', script], OTHER_USER).ended
  assert.equal(code, 1)
  assert.match(stderr, /EACCES/)
})

test('a program outside of any package is an error, not an endless search', (t) => {
  const folder = join(temporaryDirectory(t), 'a', 'b')
  mkdirSync(folder, { recursive: true })
  assert.throws(() => findPackage(folder), /no package\.json in .*b or above it/)
  writeFileSync(join(folder, '..', 'package.json'), '{}')
  assert.equal(findPackage(folder), join(folder, '..'))
})

test('a new database has the schema and the notes of migrations that are applied one by one', (t) => {
  const created = openForWriting(temporaryDirectory(t))
  t.after(() => created.close())
  const migrated = openSchemaAt(Number.POSITIVE_INFINITY)
  t.after(() => migrated.close())
  for (const query of [
    'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid',
    'SELECT * FROM __drizzle_migrations ORDER BY created_at',
  ])
    assert.deepEqual(created.prepare(query).all(), migrated.prepare(query).all(), query)
})
