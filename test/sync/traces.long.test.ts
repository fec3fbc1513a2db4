import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openForReading } from '../../src/store/open.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { copyDatabase } from '../support/chains/fixtureDatabase.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The trace index by the commands. */

function storedTraces(datadir: string): unknown[] {
  const db = openForReading(datadir)
  try {
    return db.prepare('SELECT block_number, data FROM traces ORDER BY block_number').all()
  } finally {
    db.close()
  }
}

test('import --traces on makes the index that reindex makes, also where it was killed', async (t) => {
  const root = temporaryDirectory(t)
  const [fresh, without] = [join(root, 'fresh'), join(root, 'without')]
  await runCairnOk(['import', '--traces', 'on', '--datadir', fresh, FIXTURE_FOLDER])
  const expected = storedTraces(fresh)
  assert.equal(expected.length, HEAD + 1)
  await runCairnOk(['verify', '--datadir', fresh])
  await runCairnOk(['import', '--datadir', without, FIXTURE_FOLDER])
  assert.deepEqual(storedTraces(without), [])
  for (const waitMs of [0, 20]) {
    const datadir = copyDatabase(t, without)
    const { child, ended, waitFor } = spawnCairn(['reindex', '--traces', '--datadir', datadir])
    await Promise.race([waitFor('stderr', /traces/).catch(() => undefined), ended])
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    child.kill('SIGKILL')
    await ended
    assert.match(await runCairnOk(['reindex', '--traces', '--datadir', datadir]), /^trace index: all blocks$/m)
    assert.deepEqual(storedTraces(datadir), expected)
    assert.match(await runCairnOk(['status', '--datadir', datadir]), /^traces +all blocks; /m)
    await runCairnOk(['verify', '--datadir', datadir])
  }
})

test('the commands say why the index is not possible', async (t) => {
  const root = temporaryDirectory(t)
  const datadir = join(root, 'data')
  await runCairnOk(['import', '--datadir', datadir, FIXTURE_FOLDER])
  const refused = async (args: readonly string[], words: RegExp) => {
    const { code, stderr } = await runCairn([...args])
    assert.notEqual(code, 0, stderr)
    assert.match(stderr, words)
  }
  await refused(
    ['import', '--traces', 'on', '--datadir', datadir, FIXTURE_FOLDER],
    /--traces on: the database has no trace index; 'cairn reindex --traces' makes it/,
  )
  await refused(
    ['serve', '--traces', 'on', '--replica', 'http://127.0.0.1:1/key', '--datadir', join(root, 'replica')],
    /--traces on: a replica does not execute blocks/,
  )
  await refused(
    ['sql', '--datadir', datadir, 'SELECT * FROM v_traces'],
    /the database has no trace index; 'cairn reindex --traces' makes it/,
  )
})

test('a server uses the index that reindex makes beside it', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  await runCairnOk(['import', '--datadir', datadir, FIXTURE_FOLDER])
  const { url } = await startCairn(t, ['--open', '--datadir', datadir])
  const filter = { fromBlock: '0x0', toBlock: 'latest' }
  const before = await resultOf<object[]>(url, 'trace_filter', [filter])
  await runCairnOk(['reindex', '--traces', '--datadir', datadir])
  assert.deepEqual((await ask(url, 'trace_filter', [filter])).result, before)
  const rows = await runCairnOk(['sql', '--datadir', datadir, '--format', 'csv', 'SELECT count(*) FROM v_traces'])
  const isCall = (trace: object) => (trace as { type: string }).type !== 'reward'
  assert.match(rows, new RegExp(`^${before.filter(isCall).length}$`, 'm'))
})
