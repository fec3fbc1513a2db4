import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { auditBlocks } from '../../../src/audit/blocks.js'
import { ADDRESS_INDEX } from '../../../src/index/addresses/appearanceIndex.js'
import { rebuildIndex } from '../../../src/index/segments/reindex.js'
import { verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { appearanceGap, fillAppearances } from '../../../src/sync/fillAppearances.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { storedAppearances } from '../../support/browser/addressPages.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../../support/cairn.js'
import { BRANCHES_GENESIS, growBranch } from '../../support/chains/branches.js'
import { FIXTURE_FOLDER, fixtureBlocks, fixtureGenesis, sourceOf } from '../../support/chains/fixture.js'
import { ALICE, HEAD } from '../../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../../support/chains/fixtureDatabase.js'
import { callMethod } from '../../support/compare/traces.js'
import { seededRandom } from '../../support/random.js'
import { ask, resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

/* The address index of databases that were written without it. */

function read<T>(datadir: string, look: (db: ReturnType<typeof openForReading>) => T): T {
  const db = openForReading(datadir)
  try {
    return look(db)
  } finally {
    db.close()
  }
}

async function importBranches(datadir: string, blocks: Parameters<typeof sourceOf>[0], addressIndex: boolean) {
  const db = openForWriting(datadir)
  const chain = await openWritableChain(db, { genesis: BRANCHES_GENESIS }, 'execute', { addressIndex })
  await importBlocks(chain, sourceOf(blocks), { progress: noProgress })
  return { db, chain }
}

test('a database without the index gets the one of an import, in parts, and keeps it from then on', async (t) => {
  const root = temporaryDirectory(t)
  const blocks = await growBranch(join(root, 'made'), { trunk: [], count: 260, random: seededRandom(4) })
  const whole = await importBranches(join(root, 'whole'), blocks, true)
  t.after(() => whole.db.close())
  const expected = storedAppearances(whole.db)
  assert.equal(expected.length, blocks.length + 1)

  const { db } = await importBranches(join(root, 'without'), blocks.slice(0, 250), false)
  t.after(() => db.close())
  assert.equal(appearanceGap(db), 251)
  let parts = 0
  for (let isComplete = false; !isComplete; parts++) {
    const stop = new AbortController()
    const progress = { update: () => stop.abort(), finish() {} }
    isComplete = await fillAppearances(db, { progress, signal: stop.signal })
    assert.deepEqual(storedAppearances(db), expected.slice(0, 251 - appearanceGap(db)))
  }
  assert.ok(parts > 1)
  const chain = await openWritableChain(db, undefined, undefined)
  assert.ok(chain.keepsAppearances)
  await importBlocks(chain, sourceOf(blocks), { progress: noProgress })
  assert.deepEqual(storedAppearances(db), expected)
  await rebuildIndex(db, ADDRESS_INDEX, { progress: noProgress })
  verifyIndex(db, ADDRESS_INDEX)
  assert.equal(auditBlocks(db).blocks, expected.length)
})

test('an import with the index off leaves it where it ends, and one with it on does not leave a gap', async (t) => {
  const datadir = temporaryDirectory(t)
  const blocks = fixtureBlocks()
  const importTo = async (head: number, addressIndex: boolean) => {
    const db = openForWriting(datadir)
    const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute', { addressIndex })
    await importBlocks(chain, sourceOf(blocks.slice(0, head)), { progress: noProgress })
    const kept = chain.keepsAppearances
    db.close()
    return kept
  }
  const search = async () => {
    const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
    try {
      return await callMethod<{ txs: object[] }>(context, 'ots_searchTransactionsBefore', [ALICE, 0, 25])
    } finally {
      close()
    }
  }
  assert.equal(await importTo(20, true), true)
  assert.ok((await search()).txs.length > 0)
  assert.equal(await importTo(30, false), false)
  await assert.rejects(
    search(),
    /-32000 the address index ends at block 20 of 30; 'cairn reindex' makes it, and --address-index on/,
  )
  assert.equal(await importTo(40, true), false)
  await assert.rejects(search(), /ends at block 20 of 40/)

  const db = openForWriting(datadir)
  const { head } = await openWritableChain(db, undefined, undefined)
  head.rewind(15, { byOperator: true })
  head.commit()
  db.close()
  assert.equal(await importTo(25, true), true)
  assert.ok((await search()).txs.length > 0)
})

test('the reference EVM, which does not report calls, keeps no index', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute', { evm: 'reference' })
  await importBlocks(chain, sourceOf(fixtureBlocks().slice(0, 3)), { progress: noProgress })
  assert.equal(appearanceGap(db), 4)
})

test('reindex makes the index of a database without it, also where it was killed', async (t) => {
  const fresh = temporaryDirectory(t)
  await importFixture(fresh)
  const expected = read(fresh, storedAppearances)
  const without = temporaryDirectory(t)
  await runCairnOk(['import', '--address-index', 'off', '--datadir', without, FIXTURE_FOLDER])
  for (const waitMs of THOROUGH ? [0, 20] : [0]) {
    const datadir = copyDatabase(t, without)
    const { child, ended, waitFor } = spawnCairn(['reindex', '--datadir', datadir])
    await Promise.race([waitFor('stderr', /addresses/).catch(() => undefined), ended])
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    child.kill('SIGKILL')
    await ended
    const stdout = await runCairnOk(['reindex', '--datadir', datadir])
    assert.match(stdout, /^address index: 0 segments with 0 transactions, \d+ transactions in the tail$/m)
    assert.deepEqual(read(datadir, storedAppearances), expected)
    await runCairnOk(['verify', '--datadir', datadir])
  }
})

test('a server without the index names the option, and reindex beside it makes it', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  await runCairnOk(['import', '--address-index', 'off', '--datadir', datadir, FIXTURE_FOLDER])
  assert.match(await runCairnOk(['status', '--datadir', datadir]), /^addresses +none: 'cairn reindex' makes it$/m)
  const { url } = await startCairn(t, ['--open', '--datadir', datadir])
  const call = ['ots_searchTransactionsBefore', [ALICE, 0, 25]] as const
  const { error } = await ask(url, ...call)
  assert.equal(error?.code, -32000)
  assert.match(error.message, /no address index; 'cairn reindex' makes it, and --address-index on keeps it/)
  await runCairnOk(['reindex', '--address-index', 'off', '--datadir', datadir])
  assert.deepEqual((await ask(url, ...call)).error, error)
  await runCairnOk(['reindex', '--datadir', datadir])
  const { txs } = await resultOf<{ txs: object[] }>(url, ...call)
  assert.ok(txs.length >= 25)
  const { addressIndex } = JSON.parse(await runCairnOk(['status', '--json', '--datadir', datadir])) as {
    addressIndex: { head: number; tail: number; bytes: number }
  }
  assert.equal(addressIndex.head, HEAD)
  assert.ok(addressIndex.tail > 0 && addressIndex.bytes > 0)
  const { code: exit, stderr } = await runCairn(['reindex', '--address-index', 'maybe', '--datadir', datadir])
  assert.equal(exit, 2, stderr)
})
