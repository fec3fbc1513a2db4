import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chooseDatasets } from '../../src/export/datasets.js'
import { ExportLocked } from '../../src/export/errors.js'
import { openRangeExport } from '../../src/export/exportRanges.js'
import { fetchManifest } from '../../src/export/manifest.js'
import { openExportSource } from '../../src/export/source.js'
import type { ObjectStore } from '../../src/lib/objects/objectStore.js'
import { openObjectStore } from '../../src/lib/objects/openObjectStore.js'
import { readObject } from '../../src/lib/objects/readObject.js'
import { noProgress } from '../../src/lib/progress.js'
import { runCairnOk, spawnCairn } from '../support/cairn.js'
import { checkFinished } from '../support/chains/exportDirectory.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { fixtureBlockByBlock } from '../support/chains/killedImport.js'
import { radosgwOfFile, SKIP_RADOSGW as skip } from '../support/radosgw.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const datadir = temporaryDirectory({ after })
before(() => importFixture(datadir))
const radosgw = radosgwOfFile({ after })

/** A prefix of its own in a bucket of its own. */
async function openPlace() {
  const { makeBucket, env } = await radosgw()
  const place = `s3://${await makeBucket()}/lake`
  return { place, env, store: await openObjectStore(place, {}, { ...process.env, ...env }) }
}

/** The content of every object, by key. */
async function readAll(store: ObjectStore): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for await (const { key } of store.list('')) {
    found.set(key, (await readObject(store, key, { maxBytes: 2 ** 30 }))!.content)
  }
  return found
}

/** The content of every file of an export that has ended, by name. */
function readDirectory(directory: string): Map<string, Buffer> {
  checkFinished(directory)
  const names = readdirSync(directory).filter((name) => !name.startsWith('.'))
  return new Map(names.sort().map((name) => [name, readFileSync(join(directory, name))]))
}

test('an export to S3 is byte for byte that to a directory, also after a reorganized chain and further blocks', {
  skip,
}, async (t) => {
  const { place, env, store } = await openPlace()
  const copy = copyDatabase(t, datadir)
  const directory = temporaryDirectory(t)
  const run = async () => {
    for (const out of [place, directory]) {
      await runCairnOk(['export', 'all', '--datadir', copy, '--out', out, '--range-size', '20'], env)
    }
    const wanted = readDirectory(directory)
    assert.ok(wanted.size > 5)
    assert.deepEqual(await readAll(store), wanted)
  }
  await runCairnOk(['rewind', '--datadir', copy, '--to', '47'])
  await run()
  await runCairnOk(['rewind', '--datadir', copy, '--to', '30'])
  await run()
  await runCairnOk(['import', '--datadir', copy, ...fixtureBlockByBlock(t)])
  await run()
  const again = await runCairnOk(
    ['export', 'all', '--datadir', copy, '--out', place, '--range-size', '20', '--verify-files'],
    env,
  )
  assert.match(again, /^blocks: 0 files written, 4 kept\n/)
})

test('kill -9 leaves a manifest of whole files, and the next run completes to the same bytes', { skip }, async (t) => {
  const { place, env, store } = await openPlace()
  const directory = temporaryDirectory(t)
  const terms = ['blocks,logs,receipts', '--datadir', datadir, '--range-size', '5']
  await runCairnOk(['export', ...terms, '--out', directory])
  const random = seededRandom(9)
  let held = 0
  for (let i = 0; i < (THOROUGH ? 20 : 2); i++) {
    const running = spawnCairn(['export', ...terms, '--out', place], env)
    const wanted = held + 1 + random.below(12)
    while (running.child.exitCode === null && held < wanted) {
      const { datasets } = (await fetchManifest(store)).manifest
      const files = Object.values(datasets).flatMap((dataset) => dataset.files)
      assert.ok(files.length >= held, 'a finished file was lost')
      held = files.length
      for (const { file, bytes } of files.slice(-2)) assert.equal((await store.head(file))?.bytes, bytes, file)
    }
    running.child.kill('SIGKILL')
    await running.ended
  }
  assert.ok(held > 0)
  await runCairnOk(['export', ...terms, '--out', place], env)
  assert.deepEqual(await readAll(store), readDirectory(directory))
})

test('--follow exports final ranges to S3 beside an import, and ends at SIGINT with 0', { skip }, async (t) => {
  const { place, env, store } = await openPlace()
  const copy = copyDatabase(t, datadir)
  await runCairnOk(['rewind', '--datadir', copy, '--to', '10'])
  const following = spawnCairn(
    ['export', 'blocks', '--follow', '--datadir', copy, '--out', place, '--range-size', '5'],
    env,
  )
  await following.waitFor('stderr', /export, \d+ of \d+ blocks/)
  await runCairnOk(['import', '--datadir', copy, ...fixtureBlockByBlock(t)])
  const isDone = async () => {
    const { blocks } = (await fetchManifest(store)).manifest.datasets
    return blocks.files.at(-1)?.to === 74
  }
  while (!(await isDone())) assert.equal(following.child.exitCode, null)
  following.child.kill('SIGINT')
  const { code, stderr } = await following.ended
  assert.equal(code, 0, stderr)
  const directory = temporaryDirectory(t)
  await runCairnOk(['export', 'blocks', '--datadir', datadir, '--out', directory, '--range-size', '5'])
  assert.deepEqual(await readAll(store), readDirectory(directory))
})

test('of two exports to one prefix, the one whose manifest was replaced ends', { skip }, async (t) => {
  const { store } = await openPlace()
  const source = openExportSource(datadir)
  t.after(() => source.close())
  const terms = {
    store,
    format: 'csv',
    rangeSize: 20,
    verifiesFiles: false,
    observer: { begin: () => noProgress },
  } as const
  const { signal } = new AbortController()
  const first = await openRangeExport(source, chooseDatasets(['blocks']), terms)
  const second = await openRangeExport(source, chooseDatasets(['logs']), terms)
  await assert.rejects(first.update({ finalOnly: false, signal }), ExportLocked)
  await second.update({ finalOnly: false, signal })
  const { datasets } = (await fetchManifest(store)).manifest
  assert.deepEqual([datasets.blocks.files.length, datasets.logs.files.length], [0, 4])
})
