import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { complete, isComplete } from '../../src/cli/sql/prompt.js'
import { packagePath } from '../../src/store/open.js'
import { type Ended, runCairn } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
const lake = temporaryDirectory({ after })
before(async () => {
  await importFixture(datadir)
  const exported = await runCairn(['export', 'logs', '--datadir', datadir, '--out', lake])
  assert.equal(exported.code, 0, exported.stderr)
})

const sql = (...args: string[]): Promise<Ended> => runCairn(['sql', '--datadir', datadir, ...args])

/** Runs the prompt over the lines. */
async function prompt(input: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const main = packagePath('dist/cli/main.js')
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [main, 'sql', '--datadir', datadir, ...args])
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => {
    output.stdout += text
  })
  child.stderr.on('data', (text) => {
    output.stderr += text
  })
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  return { code, ...output }
}

test('prints CSV where it is piped, or the format that is asked for', async () => {
  const query = 'SELECT number, hash IS NULL AS none FROM v_blocks WHERE number < 2'
  assert.equal((await sql(query)).stdout, 'number,none\n0,0\n1,0\n')
  assert.equal((await sql('--format', 'ndjson', query)).stdout, '{"number":0,"none":0}\n{"number":1,"none":0}\n')
  assert.equal((await sql('--format', 'json', query)).stdout, '[\n{"number":0,"none":0},\n{"number":1,"none":0}\n]\n')
  assert.equal((await sql('--format', 'json', 'SELECT 1 WHERE 0')).stdout, '[]\n')
  const many = 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1700) SELECT i FROM n'
  const array = JSON.parse((await sql('--format', 'json', many)).stdout) as { i: number }[]
  assert.deepEqual(
    array.map(({ i }) => i),
    Array.from({ length: 1700 }, (_, i) => i + 1),
  )
  assert.equal((await sql('--format', 'table', query)).stdout, 'number  none\n------  ----\n0       0\n1       0\n')
})

test('shows exact amounts, and addresses in lower case', async () => {
  const { stdout } = await sql('SELECT "to", value FROM v_erc20_transfers WHERE block_number = 16')
  assert.equal(stdout, 'to,value\n0xb93570e8995d88d39d0af6e3ffb80e39f7144c75,1000000000000000000000\n')
})

test('says what is wrong with a query', async () => {
  const wrong = await sql('SELECT nonsense')
  assert.deepEqual([wrong.code, wrong.stderr], [1, 'cairn: no such column: nonsense\n'])
  for (const [query, message] of [
    ['SELECT * FROM v_log', 'no such table: v_log (did you mean v_logs?)'],
    ['SELECT addres FROM v_logs', 'no such column: addres (did you mean address?)'],
    ['SELECT l.topic00 FROM v_logs l', 'no such column: l.topic00 (did you mean topic0?)'],
    ["SELECT kekkac256('a')", 'no such function: kekkac256 (did you mean keccak256?)'],
    ['SELECT zzzzzzzz FROM v_logs', 'no such column: zzzzzzzz'],
  ]) {
    assert.equal((await sql(query)).stderr, `cairn: ${message}\n`)
  }
  const writing = await sql('DELETE FROM logs')
  assert.deepEqual([writing.code, writing.stderr], [1, 'cairn: the database is read-only: use SELECT\n'])
  assert.match((await sql('a', 'b')).stderr, /unexpected operand 'b'; put the query in quotes/)
})

test('reads queries of several lines and commands', async () => {
  const { code, stdout, stderr } = await prompt(
    `.tables\nSELECT 1 AS a,\n ';' AS b;\n.format ndjson\nSELECT 2 AS c;\n.timing on\nSELECT 3 AS d`,
  )
  assert.match(stdout, /^v_erc20_transfers$/m)
  assert.match(stdout, /a,b\n1,;\n\{"c":2\}\n\{"d":3\}\n$/)
  assert.match(stderr, /^1 row in 0\.\d{3} s\n$/)
  assert.equal(code, 0)
  const failed = await prompt('.schem\nSELECT x;\n.schema v_logs\n')
  assert.match(failed.stderr, /unknown command \.schem \(did you mean \.schema\?\).*\nerror: no such column: x\n/)
  assert.match(failed.stdout, /^CREATE VIEW `v_logs` AS/)
  assert.equal(failed.code, 1)
})

test('a query ends with a semicolon outside of quotes and comments', () => {
  for (const text of ['SELECT 1;', "SELECT ';';", 'SELECT 1; -- x', 'SELECT 1 /* ; */;'])
    assert.ok(isComplete(text), text)
  for (const text of ['SELECT 1', "SELECT ';", '/* ;', 'SELECT 1 -- ;', `SELECT "a;`])
    assert.ok(!isComplete(text), text)
})

test('completes tables, columns and commands', () => {
  const names = ['v_logs', 'v_blocks', 'log_index', 'SELECT']
  assert.deepEqual(complete('SELECT * FROM v_', names), [['v_logs', 'v_blocks'], 'v_'])
  assert.deepEqual(complete('sel', names), [['SELECT'], 'sel'])
  assert.deepEqual(complete('.sch', names), [['.schema'], '.sch'])
})

test('queries exported Parquet in DuckDB', async () => {
  const counted = 'SELECT count(*) AS logs, count(DISTINCT address) AS contracts FROM'
  const own = await sql(`${counted} v_logs`)
  const { stdout, stderr } = await runCairn(['sql', '--lake', lake, `${counted} logs`])
  assert.equal(stdout, own.stdout, stderr)
  const values =
    "SELECT 2::HUGEINT ** 1 AS a, '\\x01\\xFF'::BLOB AS b, NULL AS c, 170141183460469231731687303715884105727::HUGEINT AS d"
  const line = (await runCairn(['sql', '--lake', lake, '--format', 'ndjson', values])).stdout
  assert.equal(line, '{"a":2,"b":"0x01ff","c":null,"d":"170141183460469231731687303715884105727"}\n')
  assert.match((await runCairn(['sql', '--lake', datadir, 'SELECT 1'])).stderr, /--lake: no manifest\.json in /)
  assert.match((await runCairn(['sql', '--lake', lake, 'SELECT x'])).stderr, /Referenced column "x" was not found/)
})
