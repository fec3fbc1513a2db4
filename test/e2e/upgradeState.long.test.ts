import assert from 'node:assert/strict'
import { cpSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { DATABASE_FILE, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { type CairnServer, runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { compareSeed, type ServedChain, SPARSE_LIMITS, serveRandomChain } from '../support/compare/sparseAnswers.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* `cairn upgrade-state`: a database that was begun without state, raised to sparse state at a block after Cancun, and
 * followed from there. */

const SEEDS = THOROUGH ? 10 : 1
const REQUESTS = THOROUGH ? 4_000 : 150
// Of the requests each how many-th is sent.
const STEP = THOROUGH ? 1 : 5

/** Makes a database without state of the blocks [from, to]. */
async function makeWithoutState(
  t: { after(callback: () => void | Promise<void>): void },
  { genesis, complete, head }: ServedChain,
  { from, to }: { from: number; to: number },
): Promise<string> {
  const datadir = temporaryDirectory(t)
  const server = await startCairn(t, [
    ...['--datadir', datadir, '--open', '--genesis', genesis, '--state', 'none', '--from', `${from}`],
    ...['--upstream', complete.url],
  ])
  await untilBlockNumber(server, head)
  await server.stop()
  await runCairnOk(['rewind', '--datadir', datadir, '--to', `${to}`])
  return datadir
}

const shared = await serveRandomChain({ after }, 1)
// Of the whole chain up to the second block of Cancun.
const withoutState = await makeWithoutState({ after }, shared, { from: 0, to: shared.first + 1 })

/** A copy of the database without state, up to a block. */
async function copyTo(t: TestContext, to: number): Promise<string> {
  const copy = temporaryDirectory(t)
  cpSync(withoutState, copy, { recursive: true })
  await runCairnOk(['rewind', '--datadir', copy, '--to', `${to}`])
  return copy
}

for (let seed = 1; seed <= SEEDS; seed++) {
  const mode = ['witness', 'proofs', 'auto'][seed % 3]
  test(`a raised database of the random chain of seed ${seed}, by ${mode}, answers as the complete one`, async (t) => {
    const served = seed === 1 ? shared : await serveRandomChain(t, seed)
    const { complete, head, first: cancun } = served
    const first = cancun + 2
    const from = seed % 2 === 0 ? 0 : cancun
    const datadir = await makeWithoutState(t, served, { from, to: first })
    const json = seed % 2 === 1
    const stdout = await runCairnOk(['upgrade-state', '--datadir', datadir, ...(json ? ['--json'] : [])])
    if (json) assert.deepEqual(JSON.parse(stdout), { path: join(datadir, 'cairn.db'), stateFirst: first })
    else assert.match(stdout, new RegExp(`has sparse state from block ${first} on; later blocks are executed`))
    await runCairnOk(['verify', '--datadir', datadir])
    const server = await startCairn(t, [
      ...['--datadir', datadir, '--open', '--state-fetch', mode, '--upstream', complete.url, ...SPARSE_LIMITS],
    ])
    await untilBlockNumber(server, head)
    const { coverage } = (await (await fetch(`${server.url}/health`)).json()) as {
      coverage: { known?: object }
    }
    const { known, ...rest } = coverage
    assert.deepEqual(rest, { first: from, head, stateFirst: first, gap: null })
    assert.deepEqual(Object.keys(known!), ['accounts', 'slots'])
    await compareLogs(server, complete, { from, head })
    for (const number of [1, cancun - 1, cancun, first, head - 1]) await compareBlockHash(server, complete, number)
    const { compared, differences } = await compareSeed(server, { ...served, first }, seed, REQUESTS, STEP)
    t.diagnostic(`from ${from}, state from ${first}, head ${head}: ${compared} answers compared`)
    assert.deepEqual(differences.slice(0, 5), [], `${differences.length} differences`)
    assert.ok(compared > REQUESTS / STEP / 5)
    const early = await ask(server.url, 'eth_getBalance', [`0x${'11'.repeat(20)}`, `0x${(first - 1).toString(16)}`])
    assert.match(JSON.stringify(early), new RegExp(`historical state ${first - 1} is not available`))
    await server.stop()
    await runCairnOk(['verify', '--datadir', datadir])
    await compareExports(t, { datadir, folder: dirname(served.genesis), first })
  })
}

/** Changes of the state that can be exported: those of the blocks after the first one with state. */
async function compareExports(
  t: TestContext,
  { datadir, folder, first }: { datadir: string; folder: string; first: number },
): Promise<void> {
  const executed = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', executed, folder])
  for (const dataset of ['balance-diffs', 'storage-diffs', 'contracts']) {
    const csv = (from: string, ...range: string[]) =>
      runCairnOk(['export', dataset, '--datadir', from, '--format', 'csv', '--out', '-', ...range])
    const [own, wanted] = [await csv(datadir), await csv(executed, '--blocks', `${first + 1}:`)]
    assert.ok(dataset === 'contracts' || own.split('\n').length > 5, dataset)
    assert.equal(own, wanted)
  }
}

/** BLOCKHASH of a block, which may be one before the first stored one. */
async function compareBlockHash(own: CairnServer, complete: CairnServer, number: number): Promise<void> {
  const to = `0x${'b1'.repeat(20)}`
  const code = `0x60${number.toString(16).padStart(2, '0')}405f5260205ff3` // returns BLOCKHASH of the number
  const [hash, wanted] = await Promise.all(
    [own, complete].map(({ url }) => resultOf(url, 'eth_call', [{ to }, 'latest', { [to]: { code } }])),
  )
  assert.equal(hash, wanted)
  assert.notEqual(BigInt(hash as string), 0n)
}

/** Logs of all blocks, of the older ones, and across the first block with state. */
async function compareLogs(own: CairnServer, complete: CairnServer, { from, head }: { from: number; head: number }) {
  const quantity = (number: number) => `0x${number.toString(16)}`
  let found = 0
  for (let to = head; to >= from; to -= 7) {
    const filter = { fromBlock: quantity(from), toBlock: quantity(to) }
    const [logs, wanted] = (await Promise.all(
      [own, complete].map(({ url }) => resultOf(url, 'eth_getLogs', [filter])),
    )) as object[][]
    assert.deepEqual(logs, wanted)
    found += logs.length
  }
  assert.ok(found > 0)
}

test('upgrade-state refuses what it cannot raise, and says what would work', async (t) => {
  const cancun = shared.first
  const early = await copyTo(t, cancun - 1)
  await refused(early, /the newest block, \d+, is before Cancun.*--state none first/)
  const datadir = await copyTo(t, cancun)
  await refused(datadir, /unexpected operand 'operand'/, 'operand')
  const db = openForWriting(datadir)
  const { code, stderr } = await runCairn(['upgrade-state', '--datadir', datadir])
  db.close()
  assert.equal(code, 1)
  assert.match(stderr, /is being written by another cairn process/)
  const reading = await startCairn(t, ['--datadir', datadir, '--open'])
  assert.equal(await stateFirstOf(reading), null)
  await runCairnOk(['upgrade-state', '--datadir', datadir])
  assert.equal(await stateFirstOf(reading), cancun)
  const unknown = await ask(reading.url, 'eth_getBalance', [`0x${'11'.repeat(20)}`, 'latest'])
  assert.match(JSON.stringify(unknown), /is not known/)
  await refused(datadir, new RegExp(`has sparse state already, from block ${cancun} on`))
  const executed = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', executed, FIXTURE_FOLDER])
  await refused(executed, /begun with --state execute; only one that was begun with --state none/)
  const empty = temporaryDirectory(t)
  openForWriting(empty).close()
  await refused(empty, /the database has no block; 'cairn serve --state sparse --upstream URL' begins a new one/)
  await refused(join(empty, 'nowhere'), /no database at/)
})

async function stateFirstOf({ url }: CairnServer): Promise<number | null> {
  const { coverage } = (await (await fetch(`${url}/health`)).json()) as { coverage: { stateFirst: number | null } }
  return coverage.stateFirst
}

async function refused(datadir: string, problem: RegExp, ...operands: string[]): Promise<void> {
  const { code, stderr } = await runCairn(['upgrade-state', '--datadir', datadir, ...operands])
  assert.equal(code, 2, stderr)
  assert.match(stderr, problem)
}

test('killed at any moment, upgrade-state is complete or did not happen', async (t) => {
  const first = shared.first + 1
  const random = seededRandom(4)
  const outcomes = { before: 0, after: 0 }
  for (const writes of THOROUGH ? [1, 2, 3, 4, 6, 10, 1_000] : [1, 1_000]) {
    for (const delayMs of [undefined, 50 + random.below(400)]) {
      const copy = temporaryDirectory(t)
      cpSync(withoutState, copy, { recursive: true })
      await killed(copy, { writes, delayMs })
      const db = openForReading(copy)
      const { stateFirst } = createChainReader(db).coverage()!
      db.close()
      assert.ok(stateFirst === undefined || stateFirst === first)
      outcomes[stateFirst === undefined ? 'before' : 'after']++
      await runCairnOk(['verify', '--datadir', copy])
      if (stateFirst === undefined) await runCairnOk(['upgrade-state', '--datadir', copy])
    }
  }
  t.diagnostic(JSON.stringify(outcomes))
  assert.ok(outcomes.before > 0 && outcomes.after > 0, JSON.stringify(outcomes))
})

/** Runs the command and kills it after that many writes to the files of the database, or after a time. */
async function killed(datadir: string, { writes, delayMs }: { writes: number; delayMs: number | undefined }) {
  let seen = 0
  let kill = () => {}
  const watcher = watch(datadir, (_event, name) => {
    if (delayMs === undefined && name?.startsWith(DATABASE_FILE) && ++seen === writes) kill()
  })
  const { child, ended } = spawnCairn(['upgrade-state', '--datadir', datadir])
  kill = () => void child.kill('SIGKILL')
  const timer = delayMs === undefined ? undefined : setTimeout(kill, delayMs)
  const { code, signal, stderr } = await ended
  clearTimeout(timer)
  watcher.close()
  assert.ok(signal === 'SIGKILL' || code === 0, stderr)
}
