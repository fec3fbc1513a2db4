import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import { extendLake } from '../../../src/sql/lake/extendLake.js'
import { LakeEngine } from '../../../src/sql/lake/lakeEngine.js'
import { findDuckDb } from '../../../src/sql/lake/loadDuckDb.js'
import type { Database } from '../../../src/store/database.js'
import { packagePath } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { LAKE_VIEWS } from '../../../src/store/sql/lakeViews.js'
import { openForQueries } from '../../../src/store/sql/queryDatabase.js'
import { runQuery, type SqlValue } from '../../../src/store/sql/runQuery.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { seededRandom } from '../../support/random.js'
import { randomQuery } from '../../support/randomQueries.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const datadir = temporaryDirectory({ after })
const directory = join(datadir, 'lake')
/** The lake ends in the middle of the chain: the other rows come from SQLite. */
const LAKE_HEAD = 41
let db: Database
let engine: LakeEngine

before(async () => {
  await importFixture(datadir)
  setFinal(LAKE_HEAD)
  await extendLake(datadir, directory, { signal: new AbortController().signal, observer: { begin: () => noProgress } })
  db = openForQueries(datadir, () => [])
  engine = await LakeEngine.open({ directory, duckdb: findDuckDb()!, threads: 2 })
})
after(() => {
  engine.close()
  db.close()
})

function setFinal(number: number): void {
  const writing = openForWriting(datadir)
  writing
    .prepare("INSERT OR REPLACE INTO meta VALUES ('finality', ?)")
    .run(JSON.stringify({ safe: number, finalized: number }))
  writing.close()
}

type Answer = { columns: readonly string[]; rows: (readonly SqlValue[])[] }

async function inDuckDb(sql: string): Promise<Answer> {
  const { columns, rows } = await engine.run(db, sql)
  const found: (readonly SqlValue[])[] = []
  for (let step = await rows.next(); !step.done; step = await rows.next()) found.push(step.value)
  return { columns, rows: found }
}

function inSqlite(sql: string): Answer {
  const { columns, rows, close } = runQuery(db, sql, { isStranger: false })
  try {
    return { columns, rows: [...rows] }
  } finally {
    close()
  }
}

/** Values as they are printed; reals may differ in their last digits. */
function printed(value: SqlValue): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : value.toPrecision(12)
  return value instanceof Uint8Array ? formatData(value) : `${value}`
}

const lines = ({ rows }: Answer) => rows.map((row) => row.map(printed).join(' | '))

/** Compares both engines. Returns false if DuckDB does not accept the statement, or SQLite does not. */
async function compare(sql: string, { hasTies = !/\bORDER BY\b/.test(sql) } = {}): Promise<boolean> {
  let [sqlite, duckdb]: (Answer | undefined)[] = []
  try {
    sqlite = inSqlite(sql)
  } catch {
    return false
  }
  try {
    duckdb = await inDuckDb(sql)
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return false
  }
  assert.deepEqual(duckdb.columns, sqlite.columns, sql)
  const [a, b] = [lines(duckdb), lines(sqlite)].map((each) => (hasTies ? each.sort() : each))
  assert.deepEqual(a, b, sql)
  return true
}

test('all rows of all views are the same', async () => {
  for (const { name } of LAKE_VIEWS) assert.ok(await compare(`SELECT * FROM ${name}`), name)
})

test('the ten queries of docs/sql.md are the same where DuckDB accepts them', async () => {
  const page = readFileSync(packagePath('docs/sql.md'), 'utf8')
  const section = page.split(/^## /m).find((each) => each.startsWith('Ten queries'))!
  const examples = [...section.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, sql]) =>
    sql.replace(/(\s*LIMIT 20)?;\s*$/, ''),
  ) // rows of equal rank have no order
  assert.equal(examples.length, 10)
  const refused: string[] = []
  for (const sql of examples) if (!(await compare(sql, { hasTies: true }))) refused.push(sql)
  // 256-bit numbers by recursion; a column that is not grouped by; layer-2 blocks.
  assert.deepEqual(
    refused.map((sql) => /RECURSIVE|b\.time|v_l2_blocks/.exec(sql)?.[0]),
    ['RECURSIVE', 'b.time', 'v_l2_blocks'],
  )
})

test('random queries are the same wherever both accept them', async () => {
  const samples = new Map<string, string[]>()
  for (const { name, columns } of LAKE_VIEWS) {
    for (const column of columns) {
      const rows = db.prepare<[], SqlValue>(`SELECT DISTINCT "${column.name}" FROM ${name} LIMIT 8`).pluck().all()
      samples.set(
        `${name}.${column.name}`,
        rows.map((value) => (typeof value === 'string' ? `'${value}'` : `${value ?? 'NULL'}`)),
      )
    }
  }
  const queries = THOROUGH ? 20_000 : 300
  const random = seededRandom(20_261_127)
  let accepted = 0
  for (let i = 0; i < queries; i++) if (await compare(randomQuery(random, samples))) accepted++
  assert.ok(accepted > queries / 5, `${accepted} of ${queries} were accepted by both`)
})
