import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { COMMANDS } from '../../src/cli/options/option.js'
import { outputOptions } from '../../src/cli/options/output.js'
import { packagePath } from '../../src/store/open.js'
import { runCairn, runCairnOk, serveFixture, spawnCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER, fixtureBlocks } from '../support/chains/fixture.js'
import { CHAIN_ID, HEAD } from '../support/chains/fixtureChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `--json`: each command prints its result as one line of JSON. */

const countTransactions = (from: number, to: number) =>
  fixtureBlocks()
    .filter(({ header }) => header.number >= from && header.number <= to)
    .reduce((sum, { transactions }) => sum + transactions.length, 0)

type Json = { [name: string]: unknown }

/** Runs a command with --json that must succeed, and returns the value of its only line. */
async function json<T = Json>(...args: string[]): Promise<T> {
  const stdout = await runCairnOk([...args, '--json'])
  assert.match(stdout, /^[^\n]+\n$/)
  return JSON.parse(stdout) as T
}

async function fixtureDatabase(t: TestContext): Promise<string> {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  return datadir
}

test('every command that prints a result has --json', () => {
  const without = COMMANDS.filter((command) => !outputOptions.json.commands.includes(command))
  assert.deepEqual(without, ['sync', 'completion', 'help'])
})

test('import, rewind, reindex and migrate report what they did', async (t) => {
  const datadir = ['--datadir', join(temporaryDirectory(t), 'data')]
  const files = ['--log-level', 'error', FIXTURE_FOLDER]
  const imported = await json('import', ...datadir, ...files)
  assert.deepEqual([imported.blocks, imported.skipped, imported.head, imported.interrupted], [HEAD, 0, HEAD, null])
  const again = await json('import', ...datadir, ...files)
  assert.deepEqual([again.blocks, again.skipped], [0, HEAD])
  const { logs, ...rewound } = await json('rewind', ...datadir, '--to', '60')
  const transactions = countTransactions(61, HEAD)
  assert.deepEqual(rewound, { blocks: HEAD - 60, transactions, head: 60, removedState: false, interrupted: false })
  assert.ok(Number.isInteger(logs))
  const { indexes, interrupted } = await json<{ indexes: Json[]; interrupted: boolean }>('reindex', ...datadir)
  assert.equal(interrupted, false)
  const transactionIndex = indexes.find(({ name }) => name === 'transaction index')!
  assert.equal(Number(transactionIndex.sealed) + Number(transactionIndex.tail), countTransactions(1, 60))
  const { path, applied, known } = await json('migrate', ...datadir)
  assert.deepEqual([path, applied], [join(datadir[1], 'cairn.db'), 0])
  assert.ok(Number(known) > 0)
})

test('verify reports what is right, and the place of a fault', async (t) => {
  const datadir = await fixtureDatabase(t)
  const right = await json<{ ok: boolean; parts: string[]; reports: string[]; upstream: null }>(
    'verify',
    '--datadir',
    datadir,
  )
  assert.deepEqual([right.ok, right.upstream], [true, null])
  assert.deepEqual(right.parts, ['file', 'blocks', 'stateHistory', 'index', 'l2'])
  assert.ok(right.reports.length >= right.parts.length)
  const db = new SqliteDatabase(join(datadir, 'cairn.db'))
  db.exec('UPDATE blocks SET timestamp = timestamp + 1 WHERE number = 17')
  db.close()
  const { code, stdout, stderr } = await runCairn(['verify', '--blocks', '--json', '--datadir', datadir])
  assert.equal(code, 1)
  const { ok, fault } = JSON.parse(stdout) as { ok: boolean; fault: Json }
  assert.equal(ok, false)
  assert.deepEqual([fault.table, fault.row, fault.field], ['blocks', 'block 17', 'hash'])
  assert.ok(stderr.includes(fault.message as string))
})

test('copies report their place, blocks and bytes', async (t) => {
  const folder = temporaryDirectory(t)
  const datadir = await fixtureDatabase(t)
  const file = join(folder, 'backup.db')
  const blocks = { first: 0, last: HEAD }
  const backup = await json('backup', '--datadir', datadir, file)
  assert.deepEqual(backup, { place: file, blocks, bytes: statSync(file).size, apiKeys: 0, leftOut: [] })
  const restored = join(folder, 'restored')
  assert.deepEqual(await json('restore', '--datadir', restored, file), { ...backup, place: restored })

  const place = join(folder, 'snapshots')
  const created = await json('snapshot', 'create', place, 'first', '--datadir', datadir)
  assert.deepEqual([created.name, created.place, created.resumed, created.removed], ['first', place, false, []])
  const [listed, ...others] = await json<Json[]>('snapshot', 'list', place)
  assert.deepEqual(others, [])
  for (const [name, value] of Object.entries(listed)) assert.deepEqual(created[name], value, name)
  const target = join(folder, 'fromSnapshot')
  const fetched = await json('snapshot', 'restore', place, '--datadir', target)
  assert.deepEqual([fetched.name, fetched.datadir, fetched.bytes], ['first', target, created.bytes])
  assert.equal((await json<{ head: { number: number } }>('status', '--datadir', target)).head.number, HEAD)
})

test('export reports files and rows; with rows on standard output it is refused', async (t) => {
  const datadir = ['--datadir', await fixtureDatabase(t)]
  const folder = temporaryDirectory(t)
  const totals = await json('export', 'blocks', 'transactions', ...datadir, '--out', join(folder, 'lake'))
  const { datasets } = totals as { datasets: Json[] }
  assert.deepEqual(
    datasets.map(({ dataset, rows, kept }) => [dataset, rows, kept]),
    [
      ['blocks', HEAD + 1, 0],
      ['transactions', countTransactions(1, HEAD), 0],
    ],
  )
  const out = join(folder, 'blocks.csv')
  const file = await json('export', 'blocks', ...datadir, '--out', out, '--blocks', '3:9')
  assert.deepEqual(file, { dataset: 'blocks', out, format: 'csv', blocks: { from: 3, to: 9 } })
  assert.equal(readFileSync(out, 'utf8').trim().split('\n').length, 8)
  const { code, stderr } = await runCairn(['export', 'blocks', ...datadir, '--out', '-', '--format', 'csv', '--json'])
  assert.equal(code, 2)
  assert.match(stderr, /^cairn: --json prints what was written; with --out - that is the rows\n$/)
})

test('serve prints its URL, and record its manifest', async (t) => {
  const served = spawnCairn(['serve', '--fixture', 'bundled', '--port', '0', '--log-level', 'error', '--json'])
  t.after(async () => {
    served.child.kill('SIGTERM')
    await served.ended
  })
  const [line] = await served.waitFor('stdout', /^.*\n/)
  const { ready } = JSON.parse(line) as { ready: string }
  const health = (await (await fetch(`${ready}/health`)).json()) as { head: { number: number } | number }
  assert.ok(JSON.stringify(health.head).includes(String(HEAD)))
  const upstream = await serveFixture(t)
  const out = join(temporaryDirectory(t), 'recorded')
  const genesis = join(FIXTURE_FOLDER, 'genesis.json')
  const options = ['--upstream', upstream.url, '--genesis', genesis, '--out', out, '--log-level', 'error']
  const recorded = await json('record', ...options)
  assert.deepEqual([recorded.out, recorded.chainId, recorded.verified], [out, String(CHAIN_ID), true])
  const { out: _, ...manifest } = recorded
  assert.deepEqual(manifest, JSON.parse(readFileSync(join(out, 'fixture.json'), 'utf8')))
})

test('keys, sql and version', async (t) => {
  const datadir = ['--datadir', await fixtureDatabase(t)]
  const { id, name, key } = await json('keys', 'create', 'first', ...datadir)
  assert.deepEqual([id, name], [1, 'first'])
  assert.match(String(key), /^\S{20,}$/)
  const exported = await runCairnOk(['keys', 'export', '--json', ...datadir])
  assert.deepEqual(JSON.parse(exported), JSON.parse(await runCairnOk(['keys', 'export', ...datadir])))
  assert.match(exported, /^[^\n]+\n$/)
  const query = ['sql', 'select number, hash from v_blocks order by number limit 2', ...datadir]
  assert.equal(await runCairnOk([...query, '--json']), await runCairnOk([...query, '--format', 'json']))
  const refused = await runCairn([...query, '--json', '--format', 'csv'])
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /--json is --format json, and --format is csv/)
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }
  assert.deepEqual(await json('version'), {
    ...{ version, node: process.versions.node },
    platform: `${process.platform}-${process.arch}`,
  })
})

test('an error is one line on standard error, and standard output stays empty', async (t) => {
  const datadir = temporaryDirectory(t)
  writeFileSync(join(datadir, 'cairn.db'), 'of another program, and long enough to be read as a header '.repeat(4))
  for (const args of [['migrate'], ['rewind', '--to', '1'], ['status'], ['reindex']]) {
    const { code, stdout, stderr } = await runCairn([...args, '--json', '--datadir', datadir])
    assert.equal(code, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, /^cairn: [^\n]+\n$/)
  }
})
