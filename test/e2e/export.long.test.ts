import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MANIFEST } from '../../src/export/manifest.js'
import { openExportSource } from '../../src/export/source.js'
import { packagePath } from '../../src/store/open.js'
import { runCairn, runCairnOk, spawnCairn } from '../support/cairn.js'
import { buildEra1 } from '../support/chains/era1File.js'
import { executedFixture } from '../support/chains/executedFixture.js'
import { checkFinished, checkManifest } from '../support/chains/exportDirectory.js'
import { readExported, readNdjson } from '../support/chains/exportedFiles.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { fixtureBlockByBlock } from '../support/chains/killedImport.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const datadir = temporaryDirectory({ after })
before(() => importFixture(datadir))

const SMALL = ['--range-size', THOROUGH ? '3' : '10']

test('kill -9 at any moment leaves whole files, and the next run completes to the same bytes', async (t) => {
  const straight = temporaryDirectory(t)
  await runCairnOk(['export', 'all', '--datadir', datadir, '--out', straight, ...SMALL])
  const directory = temporaryDirectory(t)
  const random = seededRandom(5)
  let files = 0
  for (let i = 0; i < 5; i++) {
    const running = spawnCairn(['export', 'all', '--datadir', datadir, '--out', directory, ...SMALL])
    // Among the writes to a file, or around the replacement of the manifest.
    let left = 1 + random.below(150)
    const watcher = watch(directory, () => {
      if (--left === 0) running.child.kill('SIGKILL')
    })
    const { code, signal, stderr } = await running.ended
    watcher.close()
    assert.ok(signal === 'SIGKILL' || code === 0, stderr)
    if (!existsSync(join(directory, MANIFEST))) continue
    const { datasets } = checkManifest(directory)
    const now = Object.values(datasets).reduce((sum, dataset) => sum + dataset.files.length, 0)
    assert.ok(now >= files, 'a finished file was lost')
    files = now
  }
  assert.ok(files > 0, 'no kill came after a file')
  await runCairnOk(['export', 'all', '--datadir', datadir, '--out', directory, ...SMALL])
  assert.deepEqual(checkFinished(directory), checkFinished(straight))
})

test('SIGINT ends an export with 130 and leaves whole files only', async (t) => {
  const directory = temporaryDirectory(t)
  const running = spawnCairn(['export', 'all', '--datadir', datadir, '--out', directory, '--range-size', '1'])
  const watcher = watch(directory)
  while (!readdirSync(directory).some((name) => name.endsWith('.parquet'))) await once(watcher, 'change')
  watcher.close()
  running.child.kill('SIGINT')
  const { code, stdout, stderr } = await running.ended
  assert.equal(code, 130, stderr)
  assert.match(stdout, /^blocks: \d+ files? written /)
  const { datasets } = checkFinished(directory)
  assert.ok(datasets.blocks.files.length > 0)
})

test('--follow exports final ranges beside an import, and ends at SIGINT with 0', async (t) => {
  const copy = copyDatabase(t, datadir)
  await runCairnOk(['rewind', '--datadir', copy, '--to', '10'])
  const directory = temporaryDirectory(t)
  const terms = ['--datadir', copy, '--out', directory, '--range-size', '5']
  const following = spawnCairn(['export', 'blocks', 'logs', '--follow', ...terms])
  await following.waitFor('stderr', /export, 20 of 20 blocks|export, \d+ of \d+ blocks/)
  await runCairnOk(['import', '--datadir', copy, ...fixtureBlockByBlock(t)])
  const isDone = () => readdirSync(directory).some((name) => name.endsWith('__logs__00000070_to_00000074.parquet'))
  const watcher = watch(directory)
  while (!isDone()) await once(watcher, 'change')
  watcher.close()
  following.child.kill('SIGINT')
  const { code, stdout, stderr } = await following.ended
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^blocks: 15 files written \(75 rows, .* MB\), 0 kept\nlogs: 15 files written/)
  const straight = temporaryDirectory(t)
  await runCairnOk(['export', 'blocks,logs', '--datadir', datadir, '--out', straight, '--range-size', '5'])
  assert.deepEqual(checkFinished(directory).datasets.logs.files, checkFinished(straight).datasets.logs.files)
})

test('standard output and a file hold the same rows; a reader that ends early is no error', async (t) => {
  const stdout = await runCairnOk(['export', 'logs', '--datadir', datadir, '--out', '-', '--format', 'ndjson'])
  const file = join(temporaryDirectory(t), 'logs.csv')
  assert.equal(await runCairnOk(['export', 'logs', '--datadir', datadir, '--out', file]), '')
  const rows = readNdjson(stdout)
  assert.ok(rows.length > 1_000)
  assert.deepEqual(await readExported(file), rows)
  assert.equal(statSync(file).mode & 0o777, 0o666 & ~process.umask())
  const some = await runCairnOk([
    'export',
    'logs',
    '--datadir',
    datadir,
    '--out',
    '-',
    '--format',
    'ndjson',
    '--blocks',
    '30:40',
  ])
  assert.deepEqual(
    readNdjson(some),
    rows.filter(({ block_number }) => Number(block_number) >= 30 && Number(block_number) <= 40),
  )
  const early = `'${process.execPath}' '${packagePath('dist/cli/main.js')}' export logs --datadir '${datadir}' --out - --format csv`
  const shell = spawn('bash', ['-c', `set -o pipefail; ${early} | head -n 1`], { stdio: ['ignore', 'pipe', 'pipe'] })
  let line = ''
  let error = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    line += text
  })
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text
  })
  const [code] = await once(shell, 'close')
  assert.equal(code, 0, error)
  assert.match(line, /^block_number,transaction_index,.*,block_timestamp\n$/)
})

test('wrong use is named, with exit code 2', async (t) => {
  const folder = temporaryDirectory(t)
  const refused = async (args: string[], message: RegExp, at = datadir) => {
    const { code, stderr } = await runCairn(['export', '--datadir', at, ...args])
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  const out = ['--out', join(folder, 'out')]
  await refused(['logs'], /--out is missing/)
  await refused(out, /no dataset; name some of blocks, transactions/)
  await refused(['lgs', ...out], /unknown dataset 'lgs'.*logs/)
  await refused(['logs', ...out, '--blocks', '70:75'], /block 75 is not available; logs has 0 to 74/)
  await refused(['logs', ...out, '--blocks', '9:3'], /--blocks: 9 is above 3/)
  await refused(['logs', ...out, '--follow', '--blocks', '3:9'], /--follow has no end; give --blocks 3:/)
  await refused(['blocks', ...out, '--address', `0x${'aa'.repeat(20)}`], /blocks: --address does not apply/)
  await refused(['logs', ...out, '--address', '0x12'], /--address: expected an address/)
  await refused(['logs', 'blocks', '--out', '-'], /- takes one dataset/)
  await refused(['logs', '--out', join(folder, 'x.csv'), '--format', 'ndjson'], /is a file of csv, --format is ndjson/)
  await refused(['logs', '--out', packagePath('package.json')], /package\.json is there already/)
  await refused(['logs', ...out], /no database at/, folder)
  assert.deepEqual(readdirSync(folder), [])
})

test('a database without state exports all but what needs it; its first block need not be 0', async (t) => {
  const stateless = temporaryDirectory(t)
  const file = join(stateless, 'blocks.era1')
  const source = openExportSource(datadir)
  const totalDifficulty = (number: number) => source.chain.blockByNumber(number)!.totalDifficulty
  const blocks = (await executedFixture(t)).slice(40).map((each) => {
    return { ...each, totalDifficulty: totalDifficulty(each.block.header.number) }
  })
  source.close()
  writeFileSync(file, buildEra1(blocks))
  const genesis = ['--genesis', packagePath('fixtures/chain/genesis.json')]
  await runCairnOk(['import', '--datadir', stateless, '--state', 'none', ...genesis, file])
  const directory = join(stateless, 'lake')
  const terms = ['--datadir', stateless, '--format', 'ndjson', '--out', directory]
  const { code, stderr } = await runCairn(['export', 'all', ...terms])
  assert.equal(code, 0, stderr)
  for (const name of ['contracts', 'balance-diffs', 'storage-diffs', 'balances', 'slots']) {
    assert.match(stderr, new RegExp(`left out: ${name}: the database has no state, because .* --state none`))
    const refused = await runCairn(['export', name, ...terms])
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, new RegExp(`${name}: the database has no state`))
  }
  assert.match(stderr, /left out: l2-blocks: the database holds no layer-2 blocks/)
  const { datasets } = checkFinished(directory)
  const ofChain = [
    'blocks',
    'transactions',
    'receipts',
    'logs',
    'erc20_transfers',
    'erc20_approvals',
    'erc721_transfers',
  ]
  assert.deepEqual(Object.keys(datasets), [...ofChain, 'withdrawals', 'blobs', 'address_appearances'])
  const [{ file: name }] = datasets.transactions.files
  assert.equal(name, 'network_20261__transactions__00000041_to_00000074.ndjson')
  const whole = await runCairnOk([
    'export',
    'transactions',
    '--datadir',
    datadir,
    '--format',
    'ndjson',
    '--blocks',
    '41:',
    '--out',
    '-',
  ])
  assert.deepEqual(await readExported(join(directory, name)), readNdjson(whole))
})
