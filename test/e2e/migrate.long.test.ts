import assert from 'node:assert/strict'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { DATABASE_FILE, openForReading, packagePath } from '../../src/store/open.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { digestDatabase } from '../support/compare/checkDatabase.js'
import { makeNextRelease } from '../support/nextRelease.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

/* Databases of this build, migrated by an invented next release: it adds a column, sets a value, and makes a large
   table. */

const ROWS = THOROUGH ? 400_000 : 100_000
/** Migrations of this build. */
const OWN = readdirSync(packagePath('migrations')).filter((name) => name.endsWith('.sql')).length
const SQL = `ALTER TABLE \`api_keys\` ADD \`invented\` integer;
--> statement-breakpoint
UPDATE \`meta\` SET \`value\` = '"invented"' WHERE \`key\` = 'cursor_secret';
--> statement-breakpoint
CREATE TABLE \`invented\` (\`id\` integer PRIMARY KEY NOT NULL, \`data\` blob NOT NULL);
--> statement-breakpoint
INSERT INTO \`invented\` (\`id\`, \`data\`)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS}) SELECT n, zeroblob(200) FROM numbers;
`
const next = makeNextRelease({ after }, SQL)
const older = temporaryDirectory({ after })
before(() => importFixture(older))

const KNOWN = "SELECT count(*) FROM sqlite_schema WHERE name = 'invented'"

/** How many of the effects of the migration a database has, of 4. */
function countEffects(datadir: string): number {
  const db = new SqliteDatabase(join(datadir, DATABASE_FILE), { readonly: true })
  try {
    const number = (sql: string) => db.prepare<[], number>(sql).pluck().get()!
    return (
      number("SELECT count(*) FROM pragma_table_info('api_keys') WHERE name = 'invented'") +
      number("SELECT count(*) FROM meta WHERE key = 'cursor_secret' AND value = '\"invented\"'") +
      (number(KNOWN) === 1 && number('SELECT count(*) FROM invented') === ROWS ? 1 : 0) +
      number('SELECT count(*) FROM __drizzle_migrations') -
      OWN
    )
  } finally {
    db.close()
  }
}

test('whatever reads an older database names the command that migrates it', async (t) => {
  const datadir = copyDatabase(t, older)
  const commands = [
    ['status'],
    ['keys', 'list'],
    ['abi', 'list'],
    ['sql', 'SELECT 1'],
    ['verify'],
    ['export', 'blocks', '--format', 'csv', '--out', '-'],
    ['serve', '--port', '0'],
  ]
  for (const [command, ...operands] of commands) {
    const { code, stderr } = await next.spawn([command, '--datadir', datadir, ...operands]).ended
    assert.equal(code, 2, stderr)
    assert.match(stderr, /cairn\.db is of an older version; run 'cairn migrate' to bring it up to date/, command)
  }
  assert.equal(countEffects(datadir), 0)
})

test('migrate applies what is missing, once, and the older build refuses the database then', async (t) => {
  const datadir = copyDatabase(t, older)
  const migrate = async () => {
    const { code, stdout, stderr } = await next.spawn(['migrate', '--datadir', datadir]).ended
    assert.equal(code, 0, stderr)
    return stdout
  }
  assert.match(
    await migrate(),
    new RegExp(`^the schema of .*cairn\\.db is up to date: 1 of ${OWN + 1} migrations were applied\n$`),
  )
  assert.equal(countEffects(datadir), 4)
  assert.match(await migrate(), /^the schema of .*cairn\.db was up to date\n$/)
  const verified = await next.spawn(['verify', '--datadir', datadir]).ended
  assert.equal(verified.code, 0, verified.stderr)
  assert.throws(
    () => openForReading(datadir),
    new RegExp(`schema version ${OWN + 1} is newer than this build's ${OWN}; upgrade Cairn`),
  )
})

test('an import migrates, and so does the restore of an older backup', async (t) => {
  const imported = copyDatabase(t, older)
  const { code, stderr } = await next.spawn(['import', '--datadir', imported, FIXTURE_FOLDER]).ended
  assert.equal(code, 0, stderr)
  assert.equal(countEffects(imported), 4)
  const backup = join(temporaryDirectory(t), 'older.db')
  copyFileSync(join(older, DATABASE_FILE), backup)
  const restored = temporaryDirectory(t)
  const end = await next.spawn(['restore', '--datadir', restored, backup]).ended
  assert.equal(end.code, 0, end.stderr)
  assert.equal(countEffects(restored), 4)
  assert.match((await next.spawn(['status', '--datadir', restored]).ended).stdout, new RegExp(String(HEAD)))
})

test('killed at any moment, a migration is whole or did not happen', async (t) => {
  const datadir = copyDatabase(t, older)
  const before = digestDatabase(datadir)
  let wereKilled = 0
  for (let waitMs = 0; ; waitMs += 40) {
    const { child, ended } = next.spawn(['migrate', '--datadir', datadir])
    const timer = setTimeout(() => child.kill('SIGKILL'), waitMs)
    const { signal, code, stderr } = await ended
    clearTimeout(timer)
    const effects = countEffects(datadir)
    if (effects === 0) {
      assert.equal(signal, 'SIGKILL', stderr)
      assert.equal(digestDatabase(datadir), before)
      wereKilled++
      continue
    }
    assert.equal(effects, 4)
    if (signal === null) assert.equal(code, 0, stderr)
    break
  }
  assert.ok(wereKilled > 0)
})

test('migrate says where there is no database', async (t) => {
  const { code, stderr } = await runCairn(['migrate', '--datadir', join(temporaryDirectory(t), 'none')])
  assert.equal(code, 2)
  assert.match(stderr, /none/)
  assert.match(await runCairnOk(['migrate', '--datadir', copyDatabase(t, older)]), /was up to date\n$/)
})
