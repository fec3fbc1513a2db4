import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runCairn } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
before(() => importFixture(datadir))

const sql = (...args: string[]) => runCairn(['sql', '--datadir', datadir, ...args])

test('answers from a lake that it makes, and from SQLite what DuckDB would answer otherwise', async () => {
  const query = 'SELECT topic0, count(*) AS n, sum(data_length) AS bytes FROM v_logs GROUP BY topic0 ORDER BY n DESC, 1'
  const own = await sql(query)
  const missing = await sql('--engine', 'duckdb', query)
  assert.match(missing.stderr, /no lake of this chain is in .*lake; 'cairn sql --lake auto'/)
  const made = await sql('--lake', 'auto', '--engine', 'duckdb', query)
  assert.deepEqual([made.code, made.stdout], [0, own.stdout], made.stderr)
  assert.match((await runCairn(['status', '--datadir', datadir])).stdout, /^lake +\S+\/lake, .* in 5 files$/m)
  const table = await sql('--format', 'table', query)
  assert.match(table.stderr, /^\d+ rows in \d+\.\d{3} s by DuckDB\n$/)
  const tables = 'SELECT count(*) AS n FROM logs'
  assert.deepEqual((await sql('--format', 'table', tables)).stderr, '')
  assert.match(
    (await sql('--engine', 'duckdb', tables)).stderr,
    /logs is not one of v_blocks.*; use --engine auto or sqlite/,
  )
  for (const engine of [
    ['--lake', 'off'],
    ['--engine', 'sqlite'],
  ])
    assert.equal((await sql('--format', 'table', ...engine, query)).stderr, '')
  const wrong = await sql('SELECT nonsense FROM v_logs')
  assert.deepEqual([wrong.code, wrong.stderr], [1, 'cairn: no such column: nonsense\n'])
})

test('says how DuckDB is installed where it is asked for', async () => {
  const env = { CAIRN_DUCKDB: datadir }
  const asked = await runCairn(['sql', '--datadir', datadir, '--engine', 'duckdb', 'SELECT 1'], env)
  assert.equal(asked.code, 2)
  assert.match(
    asked.stderr,
    /--engine duckdb needs DuckDB, .*run 'npm install -g @duckdb\/node-api@\S+'.* with --duckdb/,
  )
  const { stdout } = await runCairn(['sql', '--datadir', datadir, '--lake', 'auto', 'SELECT 1 AS a'], env)
  assert.equal(stdout, 'a\n1\n')
})
