import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { silentLogger } from '../../src/lib/logger.js'
import { createChainConnection } from '../../src/sql/chainConnection.js'
import { TokenQueries } from '../../src/sql/tokenQueries.js'
import type { Database } from '../../src/store/database.js'
import { packagePath } from '../../src/store/open.js'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { importFiles, readGenesisFile } from '../../src/sync/import/importFiles.js'
import { verifyHere } from '../support/chains/l2.js'
import { temporaryDirectory } from '../support/temporary.js'

const page = readFileSync(packagePath('docs/schema.md'), 'utf8')
const sqlPage = readFileSync(packagePath('docs/sql.md'), 'utf8')
let db: Database

before(async () => {
  const datadir = temporaryDirectory({ after })
  await importFiles({
    datadir,
    paths: [packagePath('fixtures/chain/chain.rlp'), packagePath('fixtures/chain/l2.ndjson')],
    chain: readGenesisFile(packagePath('fixtures/chain/genesis.json')),
    stateMode: 'execute',
    l2Verify: verifyHere,
    log: silentLogger,
    showProgress: false,
  })
  const tokens = new TokenQueries(createChainConnection(datadir))
  db = openForQueries(datadir, () => [], { tokens })
})
after(() => db.close())

/** Columns by table or view, as the page's headings and tables have them. */
function documentedColumns(): { [name: string]: string[] } {
  const sections = page.split(/^### /m).slice(1)
  return Object.fromEntries(
    sections.map((section) => {
      const name = /^`(\w+)`\n/.exec(section)?.[1]
      assert.ok(name, `a heading without a name: ${section.slice(0, 60)}`)
      const [body] = section.split(/^## /m)
      return [name, Array.from(body.matchAll(/^\| `(\w+)` \|/gm), (match) => match[1])]
    }),
  )
}

/** Columns by table or view of the kind, as the database and a session of `cairn sql` have them. */
function actualColumns(kind: 'table' | 'view'): { [name: string]: string[] } {
  const names = db
    .prepare<[string], string>(
      `SELECT DISTINCT name FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)
       WHERE type = ? AND name NOT LIKE 'sqlite%' AND name <> '__drizzle_migrations'`,
    )
    .pluck()
    .all(kind)
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck()
  return Object.fromEntries(names.map((name) => [name, columns.all(name)]))
}

/** The SQL of a page by the heading it stands under. */
function queriesUnder(heading: string, text = page): string[] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`))
  assert.ok(section, `no heading ${heading}`)
  return Array.from(section.matchAll(/^```sql\n([\s\S]*?)^```/gm), (match) => match[1])
}

test('the schema page names every table and view with exactly its columns', () => {
  const actual = { ...actualColumns('table'), ...actualColumns('view') }
  assert.ok(Object.keys(actual).length >= 21)
  assert.deepEqual(documentedColumns(), actual)
})

test('there are ten queries on the views, each with rows on the bundled chain', () => {
  const queries = queriesUnder('Ten queries on the views', sqlPage)
  assert.equal(queries.length, 10)
  const tables = Object.keys(actualColumns('table'))
  for (const sql of queries) {
    assert.ok(db.prepare(sql).all().length > 0, `no rows: ${sql}`)
    const from = Array.from(sql.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/g), (match) => match[1])
    assert.deepEqual(
      from.filter((name) => tables.includes(name)),
      [],
      `reads a table instead of a view: ${sql}`,
    )
  }
})

test('the queries on the tables have rows on the bundled chain', () => {
  const queries = queriesUnder('Queries on the tables')
  assert.equal(queries.length, 4)
  for (const sql of queries) assert.ok(db.prepare(sql).all().length > 0, `no rows: ${sql}`)
})

test('token sums of the queries agree with the amounts added up as integers', () => {
  const sql = queriesUnder('Ten queries on the views', sqlPage)[1]
  const rows = db.prepare<[], { holder: string; tokens_in: number; tokens_out: number }>(sql).all()
  const [token] = /0x[0-9a-f]{40}/.exec(sql)!
  const transfers = db
    .prepare<[string], { topic1: string; topic2: string; data: string }>(
      'SELECT topic1, topic2, data FROM v_logs WHERE address = ?',
    )
    .all(token)
  const sum = (holder: string, topic: 'topic1' | 'topic2') => {
    const own = transfers.filter((transfer) => transfer[topic].endsWith(holder.slice(2)))
    return Number(own.reduce((total, { data }) => total + BigInt(data), 0n)) / 1e18
  }
  assert.equal(rows.length, 4)
  for (const { holder, tokens_in, tokens_out } of rows) {
    assert.equal(tokens_in, sum(holder, 'topic2'))
    assert.equal(tokens_out, sum(holder, 'topic1'))
  }
})
