import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { startServing } from '../../../src/cli/serving.js'
import { readManifest } from '../../../src/export/manifest.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { DEFAULT_SQL_LIMITS, type SqlLimits } from '../../../src/server/sql/sqlLimits.js'
import { extendLake } from '../../../src/sql/lake/extendLake.js'
import { keepLake } from '../../../src/sql/lake/keepLake.js'
import { findDuckDb } from '../../../src/sql/lake/loadDuckDb.js'
import { LAKE_VIEWS } from '../../../src/store/sql/lakeViews.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { servingOptions } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { untilValue } from '../../support/until.js'

const datadir = temporaryDirectory({ after })
const directory = join(datadir, 'lake')
before(async () => {
  await importFixture(datadir)
  const { signal } = new AbortController()
  await extendLake(datadir, directory, { signal, observer: { begin: () => noProgress } })
})

/** A server with SQL over the lake and a function that queries it. */
async function serve(t: TestContext, engine: 'auto' | 'duckdb', limits: Partial<SqlLimits> = {}) {
  const sql = { ...DEFAULT_SQL_LIMITS, processes: 1, ...limits }
  const sqlLake = { directory, duckdb: findDuckDb()!, engine }
  const serving = await startServing({ ...servingOptions(datadir), sql, sqlLake })
  t.after(() => serving.close())
  return async (body: string | object, headers: Record<string, string> = {}) => {
    const isText = typeof body === 'string'
    const response = await fetch(`${serving.url}/sql`, {
      method: 'POST',
      headers: { 'Content-Type': isText ? 'text/plain' : 'application/json', ...headers },
      body: isText ? body : JSON.stringify(body),
    })
    return { status: response.status, engine: response.headers.get('cairn-sql-engine'), text: await response.text() }
  }
}

const rowsOf = ({ text }: { text: string }) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as object)
const errorOf = ({ text }: { text: string }) => (JSON.parse(text) as { error: string }).error

test('answers in DuckDB within the same limits, and in SQLite what that would answer otherwise', async (t) => {
  const query = await serve(t, 'auto', { timeoutMs: 2_000, maxRows: 1000, memoryBytes: 384 * 2 ** 20 })
  const counted = 'SELECT count(*) AS n, sum(log_index < 0) AS none FROM v_logs'
  const answer = await query(counted)
  assert.deepEqual([answer.engine, rowsOf(answer)], ['DuckDB', [{ n: 10_553, none: 0 }]])
  const csv = await query('SELECT number, hash IS NULL AS none FROM v_blocks WHERE number < 2', { Accept: 'text/csv' })
  assert.deepEqual([csv.engine, csv.text], ['DuckDB', 'number,none\n0,0\n1,0\n'])
  const table = await query('SELECT count(*) AS n FROM logs')
  assert.deepEqual([table.engine, rowsOf(table)], ['SQLite', [{ n: 10_553 }]])
  assert.equal((await query('SELECT * FROM api_keys')).status, 400)
  assert.equal((await query("SELECT * FROM read_csv('/etc/passwd')")).status, 400)
  const many = await query({ query: 'SELECT log_index FROM v_logs', end: true })
  assert.equal(many.engine, 'DuckDB')
  assert.match(many.text, /"end":\{"error":"more than 1000 rows/)
  const endless = await query(
    'SELECT count(*) AS n FROM v_logs a, v_logs b, v_logs c WHERE a.log_index + b.log_index > c.log_index',
  )
  assert.equal(errorOf(endless), 'the query took longer than 2 s')
  const large = await query("SELECT count(DISTINCT i || 'x') AS n FROM range(1000000000) t(i)")
  assert.equal(large.status, 400)
  assert.equal((await query(counted)).engine, 'DuckDB')
})

test('refuses in DuckDB what does more than reading the views', async (t) => {
  const query = await serve(t, 'duckdb')
  const other = join(datadir, 'other')
  const hostile = [
    "SELECT * FROM read_csv('/etc/passwd')",
    `COPY (SELECT 1) TO '${other}'`,
    `ATTACH '${other}'`,
    'INSTALL httpfs',
    'PRAGMA database_list',
    "SET memory_limit = '1TB'",
    'SELECT * FROM duckdb_settings()',
    'SELECT * FROM api_keys',
    'SELECT 1; SELECT 2',
    '',
  ]
  for (const sql of hostile) {
    const answer = await query(sql)
    assert.equal(answer.status, 400, sql)
    assert.match(errorOf(answer), /DuckDB cannot answer this as SQLite does/, sql)
  }
  assert.equal(existsSync(other), false)
  assert.equal((await query('SELECT 1 AS a')).engine, 'DuckDB')
})

test('a server extends the lake, and no process is left when it has stopped', async (t) => {
  const kept = join(temporaryDirectory(t), 'kept')
  const lake = keepLake({ datadir, directory: kept, log: silentLogger })
  t.after(() => lake.close())
  const countFiles = () => LAKE_VIEWS.filter(({ name }) => readManifest(kept).datasets[name]?.files.length).length
  await untilValue(countFiles, (count) => count === LAKE_VIEWS.length)
  await lake.close()
  const { signal } = new AbortController()
  assert.equal(await extendLake(datadir, kept, { signal, observer: { begin: () => noProgress } }), false)
})
