import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from '../../src/store/database.js'
import { withKeptPlan } from '../../src/store/keepPlans.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { temporaryDirectory } from '../support/temporary.js'

test('parameters that SQLite would compare with small integers stand behind a plus', () => {
  const cases = [
    ['SELECT a FROM t WHERE b = ? AND c=@name', 'SELECT a FROM t WHERE b = +? AND c=+@name'],
    ['SELECT a FROM t WHERE b IS ? OR c IS NOT ?', 'SELECT a FROM t WHERE b IS +? OR c IS NOT +?'],
    ['SELECT a FROM t ORDER BY a limit ? OFFSET ?', 'SELECT a FROM t ORDER BY a limit +? OFFSET +?'],
    ['UPDATE t SET a = ? WHERE b = 1 LIMIT 2', 'UPDATE t SET a = +? WHERE b = 1 LIMIT 2'],
    ['INSERT INTO t VALUES (?, ?)', 'INSERT INTO t VALUES (?, ?)'],
  ]
  for (const [sql, wanted] of cases) assert.equal(withKeptPlan(sql), wanted)
})

test('texts, names and comments stay as they are', () => {
  const sql = `SELECT 'it''s = ?', "= ?", [= ?], \`= ?\` FROM t -- it's = ?
    /* LIMIT ? */ WHERE a = `
  assert.equal(withKeptPlan(`${sql}?`), `${sql}+?`)
})

test('unclosed texts and comments of any number take linear time', () => {
  for (const opening of ["'", '"', '`', '[', '/*']) {
    const sql = `SELECT ${opening}${'/*['.repeat(200_000)}`
    assert.equal(withKeptPlan(sql), sql)
  }
})

test('an index is used as before', (t) => {
  const db = openForReading(temporaryDatadir(t))
  t.after(() => void db.close())
  const planOf = (sql: string, ...values: number[]) =>
    db
      .prepare<number[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => detail)
  assert.deepEqual(planOf('SELECT hash FROM blocks WHERE number = ?', 1), [
    'SEARCH blocks USING INTEGER PRIMARY KEY (rowid=?)',
  ])
  assert.match(
    planOf('SELECT number FROM blocks WHERE hash = ?', 1).join(),
    /SEARCH blocks USING .*INDEX .*\(hash=\?\)/,
  )
  assert.match(
    planOf('SELECT nonce FROM account_history WHERE address_id = ? AND block_number <= ?', 1, 1).join(),
    /SEARCH account_history USING PRIMARY KEY \(address_id=\? AND block_number<\?\)/,
  )
})

test('a value behind a plus is stored and found as it was bound', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  db.exec('CREATE TABLE probe (a BLOB, b INTEGER, c TEXT)')
  db.exec('INSERT INTO probe VALUES (NULL, 0, NULL)')
  const set = db.prepare('UPDATE probe SET a = ?, b = ?, c = ?')
  const find = db.prepare('SELECT count(*) FROM probe WHERE a IS ? AND b = ? AND c = ?').pluck()
  for (const a of [null, 1n, 1.5, 'text', Buffer.from('bytes')]) {
    set.run(a, 2, 3)
    assert.equal(find.get(a, 2, 3), 1)
    const type = db.prepare('SELECT typeof(a) || typeof(b) || typeof(c) FROM probe').pluck().get()
    const wanted = db.prepare('SELECT typeof(column1) FROM (VALUES (?))').pluck().get(a)
    assert.equal(type, `${wanted}integertext`)
  }
})

/** The directory of an empty database. */
function temporaryDatadir(t: TestContext): string {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  return datadir
}

/** Functions that better-sqlite3 makes while the statement runs ten times: one each time that SQLite has compiled
 *  it. */
function compilationsOf(db: Database, sql: string, bind: (run: number) => unknown[]): number {
  const statement = db.prepare<unknown[], unknown>(sql)
  const original = globalThis.Function
  let made = 0
  globalThis.Function = new Proxy(original, {
    apply(target, self, args) {
      made++
      return Reflect.apply(target, self, args)
    },
  })
  try {
    for (let run = 0; run < 10; run++) statement.all(...bind(run))
  } finally {
    globalThis.Function = original
  }
  return made
}

test('statements are compiled once, whatever is bound', (t) => {
  const datadir = temporaryDirectory(t)
  const writer = openForWriting(datadir)
  t.after(() => void writer.close())
  writer.exec(`INSERT INTO account_history (address_id, block_number, nonce, balance, incarnation)
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i, 0, 0, 0, 0 FROM n`)
  const reader = openForReading(datadir)
  t.after(() => void reader.close())
  const statements: [sql: string, bind: (run: number) => unknown[]][] = [
    ['SELECT nonce FROM account_history WHERE address_id = ? AND block_number <= ? LIMIT 1', (run) => [run, 1]],
    ['SELECT nonce FROM account_history WHERE address_id > ? ORDER BY address_id LIMIT ?', (run) => [run, 1 + run]],
    ['SELECT nonce FROM account_history WHERE incarnation IS ? AND address_id = ?', (run) => [0, run]],
  ]
  for (const db of [writer, reader]) {
    for (const [sql, bind] of statements) assert.equal(compilationsOf(db, sql, bind), 1, sql)
  }
})
