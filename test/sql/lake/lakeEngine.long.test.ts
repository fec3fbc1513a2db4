import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MANIFEST, readManifest } from '../../../src/export/manifest.js'
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
import { runCairnOk } from '../../support/cairn.js'
import { HEAD } from '../../support/chains/fixtureChain.js'
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

test('expressions that are stored beside the views are the same', async () => {
  const queries = [
    'SELECT sum((length(input) - 2) / 2), max(length(t.input)), avg(length("input")) FROM v_transactions t',
    'SELECT "to", sum(CAST(value AS REAL)) AS value FROM v_erc20_transfers GROUP BY "to" ORDER BY value DESC, 1',
    'SELECT CAST(value AS REAL) AS value FROM v_erc20_transfers WHERE length(value) > 3 ORDER BY value, 1',
    'SELECT *, length(input) FROM v_transactions ORDER BY length(input), hash',
    'SELECT value, CAST(value AS REAL) FROM v_erc20_transfers GROUP BY value ORDER BY 1',
    `SELECT a.n, b.n FROM (SELECT length(input) AS n, hash FROM v_transactions) a
      JOIN (SELECT CAST(input AS TEXT) AS n, hash FROM v_transactions) b USING (hash) ORDER BY a.n, b.n`,
    `SELECT length(input) FROM v_transactions t WHERE EXISTS
      (SELECT 1 FROM v_erc20_transfers e WHERE e.block_number = t.block_number AND CAST(e.value AS REAL) > length(t.input)) ORDER BY 1`,
  ]
  for (const sql of queries) assert.ok(await compare(sql), sql)
})

test('what the engines do differently by themselves is the same', async () => {
  const queries = [
    "SELECT count(*) FROM v_blocks WHERE hash LIKE '0X%'",
    "SELECT count(*) FROM v_blocks WHERE hash NOT LIKE '0X\\__' ESCAPE '\\' OR hash LIKE '0X!%' ESCAPE '!'",
    'SELECT DISTINCT "to" FROM v_transactions ORDER BY "to"',
    'SELECT DISTINCT "to" FROM v_transactions ORDER BY "to" DESC',
    'SELECT number, 7 / 2, -7 / 2, number / 0, 1.0 / 0, number % 0, 0.1 + 0.2, 1.5 * 3 FROM v_blocks ORDER BY number',
    'SELECT CAST(2.7 AS INTEGER), CAST(-2.7 AS INTEGER), CAST(number * 0.5 AS INTEGER), round(2.5), round(-2.5) FROM v_blocks ORDER BY number',
    'SELECT number > 5, NOT number, number IN (1, 2), min(hash) IS NULL, TRUE, sum(number > 5) FROM v_blocks GROUP BY number ORDER BY number',
    "SELECT substr(hash, 0, 3), substr(hash, -2), substr(hash, 3, -1), instr(hash, 'a'), ltrim(hash, '0x') FROM v_blocks ORDER BY number",
    'SELECT sum(number) / count(*), avg(number), sum(blob_gas_used), min(blob_gas_used), count(blob_gas_used) FROM v_blocks WHERE number < 9',
    `SELECT date(timestamp, 'unixepoch'), datetime(timestamp, 'unixepoch'), strftime('%j %H:%M', timestamp, 'unixepoch'), 'date(' AS "date(x"
      FROM v_blocks ORDER BY number`,
    'SELECT lower(hash) AS hash, number + 1 AS number FROM v_blocks WHERE number > 3 ORDER BY number + 0 DESC',
    "SELECT number || ':' || gas_used, CAST(number AS TEXT) || '' FROM v_blocks ORDER BY number",
  ]
  for (const sql of queries) assert.ok(await compare(sql), sql)
})

test('a lake of another version or chain is replaced', async (t) => {
  const other = join(temporaryDirectory(t), 'lake')
  const control = { signal: new AbortController().signal, observer: { begin: () => noProgress } }
  await extendLake(datadir, other, control)
  const manifest = join(other, MANIFEST)
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('value_real', 'value_of_another_version'))
  assert.equal(await extendLake(datadir, other, control), true)
  assert.match(readFileSync(manifest, 'utf8'), /value_real/)
  assert.equal(await extendLake(datadir, other, control), false)
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

test('a statement reads the views and nothing else', async () => {
  const outside = join(temporaryDirectory({ after }), 'x')
  const [file] = readdirSync(directory).filter((name) => name.includes('__v_logs__'))
  const refused: [sql: string, reason: RegExp][] = [
    ["SELECT * FROM read_csv('/etc/passwd')", /table function read_csv\(\) is not allowed/],
    ["SELECT * FROM read_text('/etc/passwd')", /read_text\(\) is not allowed/],
    ["SELECT * FROM glob('/etc/*')", /glob\(\) is not allowed/],
    [`SELECT * FROM '${join(directory, file)}'`, /is not one of v_blocks/],
    ["SELECT * FROM 'https://example.com/x.parquet'", /is not one of v_blocks/],
    [`COPY (SELECT 1) TO '${outside}'`, /Only SELECT statements/],
    [`COPY (SELECT 1) TO '${join(directory, 'x.parquet')}'`, /Only SELECT statements/],
    [`ATTACH '${outside}' AS other`, /Only SELECT statements/],
    ['INSTALL httpfs', /Only SELECT statements/],
    ['LOAD httpfs', /Only SELECT statements/],
    ['PRAGMA database_list', /Only SELECT statements/],
    ['SET threads = 64', /Only SELECT statements/],
    ['RESET lock_configuration', /Only SELECT statements/],
    ['CALL pragma_version()', /Only SELECT statements/],
    ['CREATE TABLE x (y INTEGER)', /Only SELECT statements/],
    ['DELETE FROM newest_v_logs', /Only SELECT statements/],
    ['SELECT 1; SELECT 2', /expected one statement/],
    ['SELECT * FROM newest_v_logs', /is not one of v_blocks/],
    ['SELECT * FROM information_schema.tables', /is not one of v_blocks/],
    ['SELECT * FROM duckdb_settings()', /is not allowed/],
    ["SELECT current_setting('allowed_directories')", /is not allowed/],
    ["SELECT * FROM query('SELECT 1')", /is not allowed/],
    ["FROM query_table('newest_v_logs')", /is not allowed/],
    ['SELECT * FROM (SHOW TABLES)', /not a SELECT|is not one of/],
    ["SELECT 1 WHERE EXISTS (FROM read_blob('/etc/passwd'))", /is not allowed/],
    ["WITH v_logs AS (FROM read_csv('/etc/passwd')) SELECT * FROM v_logs", /is not allowed/],
  ]
  for (const [sql, reason] of refused) await assert.rejects(inDuckDb(sql), reason, sql)
  assert.equal(existsSync(outside), false)
})

test("statements that SQLite does not accept may be DuckDB's own", async () => {
  const { columns, rows } = await inDuckDb(
    'FROM v_blocks SELECT list(number ORDER BY number)[1:2] AS firsts, quantile_disc(number, 0.5) AS middle',
  )
  assert.deepEqual([columns, rows], [['firsts', 'middle'], [['[0, 1]', BigInt(HEAD / 2)]]])
})

test('what SQLite would answer otherwise is refused', async () => {
  const refused: [sql: string, reason: RegExp][] = [
    ["SELECT count(*) FROM v_blocks WHERE number = '5'", /a comparison mixes integers and text/],
    ['SELECT count(*) FROM v_transactions WHERE value > 1000', /a comparison mixes text and integers/],
    ['SELECT hex(number) FROM v_blocks', /hex\(\) is not one of the functions/],
    ['SELECT max(number, 3) FROM v_blocks', /max\(\) of integers, integers may differ/],
    ['SELECT CAST(selector AS INTEGER) FROM v_transactions', /CAST of text AS INTEGER may differ/],
    ['SELECT gas_used || fee_eth FROM v_receipts', /\|\| formats reals/],
    [
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 0.5 FROM n WHERE i < 3) SELECT * FROM n',
      /recursive cte node may differ/,
    ],
  ]
  for (const [sql, reason] of refused) await assert.rejects(inDuckDb(sql), reason, sql)
})

test('follows new blocks, a rewind, and one below the head of the lake', async () => {
  const sql = 'SELECT max(number), count(*), sum(gas_used), max(hash) FROM v_blocks'
  assert.ok(await compare(sql))
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '60'])
  assert.ok(await compare(sql), 'after a rewind of new blocks')
  await runCairnOk(['import', '--datadir', datadir, packagePath('fixtures/chain')])
  assert.ok(await compare(sql), 'after an import of more blocks')
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '30'])
  await assert.rejects(inDuckDb(sql), /no lake of this chain/)
  const extend = () =>
    extendLake(datadir, directory, { signal: new AbortController().signal, observer: { begin: () => noProgress } })
  assert.equal(await extend(), true)
  assert.ok(await compare(sql), 'after the lake is extended again')
  assert.equal(await extend(), false, 'there is nothing to do')
  rmSync(join(directory, readdirSync(directory).find((name) => name.includes('__v_blocks__'))!))
  await assert.rejects(inDuckDb(sql), /No files found|Cannot open file/)
})

test('files that one view has and another does not, as after a kill, do not count', async () => {
  await runCairnOk(['import', '--datadir', datadir, packagePath('fixtures/chain')])
  setFinal(LAKE_HEAD)
  const stop = new AbortController()
  const begin = () => noProgress
  await extendLake(datadir, directory, { stepBlocks: 1, signal: stop.signal, observer: { begin } })
  setFinal(HEAD)
  const update = (_: number, note: string) => note.startsWith('v_transactions') && stop.abort(new Error('killed'))
  const control = { stepBlocks: 1, signal: stop.signal, observer: { begin: () => ({ update, finish() {} }) } }
  await assert.rejects(extendLake(datadir, directory, control), /killed/)
  const { datasets } = readManifest(directory)
  const ends = LAKE_VIEWS.map(({ name }) => datasets[name].files.at(-1)!.to)
  assert.deepEqual(ends, [HEAD, LAKE_HEAD, LAKE_HEAD, LAKE_HEAD, LAKE_HEAD])
  for (const { name } of LAKE_VIEWS) assert.ok(await compare(`SELECT * FROM ${name}`), name)
})
