import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkDatadir, checkFreeSpace } from '../../../src/cli/doctor/datadir.js'
import { findLockHolder, parseLocks } from '../../../src/cli/doctor/lockHolder.js'
import { checkMachine, checkNode, checkOpenFiles } from '../../../src/cli/doctor/machine.js'
import { quickCheck } from '../../../src/cli/doctor/quickCheck.js'
import { isSupportedNode, OLDEST_NODE } from '../../../src/cli/supportedNode.js'
import { DATABASE_FILE, packagePath } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { runCairn, runCairnOk, startCairn } from '../../support/cairn.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../../support/temporary.js'

interface Row {
  area: string
  check: string
  result: string
  found: string
  remedy: string | null
}

test('the whole: a database, a node of its chain, and one that is not there', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const node = await startCairn(t, ['--fixture', 'bundled', '--open'])
  const both = ['--datadir', datadir, '--upstream', node.socketUrl]
  const rows = (text: string) => (JSON.parse(text) as { checks: Row[] }).checks
  const good = await runCairnOk(['doctor', '--json', ...both])
  assert.equal(JSON.parse(good).ok, true)
  const of = (check: string) => rows(good).find((row) => row.check === check)
  assert.match(of('chain')!.found, /^chain id 20261 and genesis are those of the database$/)
  assert.match(of('state window')!.found, /^all 74 blocks below the newest$/)
  assert.match(of('WebSocket')!.found, /^eth_subscribe at ws:/)
  assert.match(of('batches')!.found, /^1,000 calls at a time$/)
  assert.deepEqual([of('writer')!.found, of('integrity')!.found], ['no process writes the database', 'no fault'])
  assert.equal(of('newest block')!.result, 'warn') // the blocks of the fixture are old
  assert.deepEqual(
    readdirSync(datadir).filter((name) => name.includes('doctor')),
    [],
  )

  const { code, stdout } = await runCairn(['doctor', ...both, '--upstream', 'http://127.0.0.1:1'])
  assert.equal(code, 1)
  assert.match(stdout, /^reachable +fail +.*ECONNREFUSED\n +-> start the node, or correct the URL$/m)
  assert.match(stdout, /^schema +ok +version \d+$/m)
  assert.match(stdout, /\n\d+ checks: 1 failed, 1 with a warning\n$/)
})

test('a data directory that does not exist is not made', async (t) => {
  const datadir = join(temporaryDirectory(t), 'none')
  assert.match(await runCairnOk(['doctor', '--datadir', datadir]), /does not exist yet/)
  assert.equal(existsSync(datadir), false)
  const { code, stderr } = await runCairn(['doctor', 'operand'])
  assert.deepEqual([code, stderr], [2, "cairn: unexpected operand 'operand'; see 'cairn help doctor'\n"])
})

test('a file in place of the directory, a foreign file and a damaged database are failures', async (t) => {
  const folder = temporaryDirectory(t)
  const datadir = join(folder, 'good')
  await importFixture(datadir)
  const results = async (path: string) => {
    const { checks } = await checkDatadir(path)
    return checks.filter(({ result }) => result === 'fail').map(({ check }) => check)
  }
  assert.deepEqual(await results(datadir), [])
  assert.deepEqual(await results(join(datadir, DATABASE_FILE)), ['directory'])

  const foreign = join(folder, 'foreign')
  mkdirSync(foreign)
  writeSync(
    openSync(join(foreign, DATABASE_FILE), 'w'),
    'not a database, but some text of more than 100 bytes'.repeat(9),
  )
  assert.deepEqual(await results(foreign), ['schema', 'integrity'])

  const damaged = join(folder, 'damaged')
  mkdirSync(damaged)
  const path = join(damaged, DATABASE_FILE)
  copyFileSync(join(datadir, DATABASE_FILE), path)
  const { size } = statSync(path)
  const file = openSync(path, 'r+')
  for (let at = 64 * 4096; at < size; at += 8 * 4096) writeSync(file, Buffer.alloc(512, 0xee), 0, 512, at)
  assert.equal((await quickCheck(damaged, 10_000)).result, 'fail')
})

test('a check of the file that is not finished in time reports no fault', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  assert.deepEqual(await quickCheck(datadir, 1), {
    result: 'ok',
    found: "no fault within 0.001 s; 'cairn verify --file' checks all of it",
  })
})

test('the process that writes the database is named', { skip: !existsSync('/proc/locks') }, async (t) => {
  const datadir = temporaryDirectory(t)
  const lock = join(datadir, 'cairn.lock')
  assert.equal(findLockHolder(lock), undefined)
  const db = openForWriting(datadir)
  assert.equal(findLockHolder(lock), process.pid)
  const { checks } = await checkDatadir(datadir)
  const writer = checks.find(({ check }) => check === 'writer')
  assert.deepEqual([writer?.result, writer?.found], ['ok', `process ${process.pid} writes the database`])
  db.close()
  assert.equal(findLockHolder(lock), undefined)
})

test('locks are found by device and inode', () => {
  const text = `1: POSIX  ADVISORY  READ  7 08:02:131 128 128
2: POSIX  ADVISORY  WRITE 8 08:02:1310 0 EOF
2: -> POSIX  ADVISORY  WRITE 9 08:02:131 0 EOF
3: OFDLCK ADVISORY  WRITE -1 103:105:131 0 EOF
4: POSIX  ADVISORY  WRITE 10 08:02:131 0 EOF
`
  assert.equal(parseLocks(text, { dev: 0x802, ino: 131 }), 10)
  assert.equal(parseLocks(text, { dev: 0x802, ino: 132 }), undefined)
  // Major 0x103, minor 0x105: bits 8 to 11 of the minor number are in bits 20 to 23.
  assert.equal(parseLocks(text, { dev: 0x10_3_05 | (1 << 20) | (0x103 << 8), ino: 131 }), 0)
})

test('the machine that runs the tests has what Cairn needs', async () => {
  const checks = await checkMachine({})
  assert.deepEqual(
    checks.filter(({ result }) => result === 'fail'),
    [],
  )
  const missing = (await checkMachine({ duckdb: packagePath('fixtures') })).find(({ check }) => check === 'DuckDB')
  assert.ok(missing)
})

test('versions of Node are compared with what package.json asks for', () => {
  const { engines } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { engines: { node: string } }
  assert.equal(engines.node, `>=${OLDEST_NODE.major}.${OLDEST_NODE.minor}`)
  for (const version of ['18.20.1', '20.99.0', '22.20.9', '22.21.0', '22.100.0', '23.0.0', '26.1.0']) {
    assert.equal(checkNode(version, engines.node).result, isSupportedNode(version) ? 'ok' : 'fail', version)
  }
  assert.equal(isSupportedNode('22.20.9'), false)
  assert.equal(isSupportedNode('22.21.0'), true)
  assert.equal(checkNode('24.0.0', '22 || 24').result, 'warn')
})

test('open files and free space have two thresholds each', () => {
  const files = [256, 563, 564, 1_024, 10_499, 10_500, Number.POSITIVE_INFINITY]
  const ofFiles = files.map((limit) => checkOpenFiles(limit).result)
  assert.deepEqual(ofFiles, ['fail', 'fail', 'warn', 'warn', 'warn', 'ok', 'ok'])
  const GIB = 2 ** 30
  assert.equal(checkFreeSpace(GIB / 4).result, 'fail')
  assert.equal(checkFreeSpace(GIB).result, 'warn')
  assert.equal(checkFreeSpace(100 * GIB).result, 'ok')
  assert.equal(checkFreeSpace(100 * GIB, null).result, 'ok')
  assert.equal(checkFreeSpace(100 * GIB, 100).result, 'ok')
  assert.deepEqual(checkFreeSpace(100 * GIB, 13.7).found, '100.0 GiB, full in 13 days')
  assert.equal(checkFreeSpace(100 * GIB, 13.7).result, 'warn')
})
