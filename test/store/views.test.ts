import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { count, eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { getViewConfig, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import * as views from '../../src/store/views.js'
import { TOKEN } from '../support/chains/fixtureChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
let db: Database
before(async () => {
  await importFixture(datadir)
  db = openForReading(datadir)
})
after(() => db.close())

test('the typed views have the columns of the database, in their order, with their types', () => {
  const named = Object.values(views).map((view) => ({ name: getViewConfig(view).name, view }))
  const stored = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
    .pluck()
    .all()
  assert.deepEqual(named.map(({ name }) => name).sort(), stored)
  for (const { name, view } of named) {
    const columns = Object.values(getViewConfig(view).selectedFields) as SQLiteColumn[]
    const actual = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name)
    assert.deepEqual(
      columns.map((column) => column.name),
      actual,
      name,
    )
    for (const row of db.prepare<[], { [column: string]: unknown }>(`SELECT * FROM ${name}`).iterate()) {
      for (const column of columns) {
        const value = row[column.name]
        if (value === null) assert.equal(column.notNull, false, `${name}.${column.name} is NULL`)
        else if (typeof value === 'number') assert.match(column.columnType, /Integer|Real/, `${name}.${column.name}`)
        else assert.equal(column.columnType, 'SQLiteText', `${name}.${column.name}`)
      }
    }
  }
})

test('drizzle reads them', () => {
  const { erc20TransfersView } = views
  const rows = drizzle(db).select().from(erc20TransfersView).where(eq(erc20TransfersView.address, TOKEN)).all()
  assert.equal(rows.length, 7)
  assert.equal(rows[0].value satisfies string, '1000000000000000000000')
  const [{ logs }] = drizzle(db).select({ logs: count() }).from(views.logsView).all()
  assert.equal(logs, 10_553)
})

test('no view makes an index of its own, which it would search once for each block', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  const views = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all()
  assert.ok(views.length > 5)
  for (const view of views) {
    const plan = db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN SELECT count(*) FROM ${view}`).all()
    assert.doesNotMatch(plan.map(({ detail }) => detail).join('\n'), /AUTOMATIC/, view)
  }
  db.close()
})
