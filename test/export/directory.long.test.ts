import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chooseDatasets } from '../../src/export/datasets.js'
import type { Format } from '../../src/export/encoders/rowEncoder.js'
import { ExportLocked, OtherExport } from '../../src/export/errors.js'
import { type ExportTotals, openRangeExport } from '../../src/export/exportRanges.js'
import { openExportSource } from '../../src/export/source.js'
import { parseHex } from '../../src/lib/hex.js'
import { createDirectoryStore } from '../../src/lib/objects/directoryStore.js'
import { noProgress } from '../../src/lib/progress.js'
import { replaceBranch } from '../../src/sync/head/reorg.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { rewindChain } from '../../src/sync/rewindChain.js'
import { growBranch, openBranches } from '../support/chains/branches.js'
import { checkFinished } from '../support/chains/exportDirectory.js'
import { sourceOf } from '../support/chains/fixture.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const datadir = temporaryDirectory({ after })
before(() => importFixture(datadir))

interface Terms {
  datadir?: string
  directory: string
  datasets?: string
  format?: Format
  rangeSize?: number
  from?: number
  to?: number
  verifiesFiles?: boolean
  finalOnly?: boolean
  addresses?: Uint8Array[]
}

/** Brings an export up to date and ends it. */
async function exportOnce({ directory, datasets = 'blocks,logs', finalOnly = false, ...terms }: Terms) {
  const source = openExportSource(terms.datadir ?? datadir, { addresses: terms.addresses })
  const chosen = chooseDatasets(datasets.split(','))
  try {
    if (chosen.some(({ needsState }) => needsState)) await source.loadTraces()
    const exported = await openRangeExport(source, chosen, {
      store: createDirectoryStore(directory),
      directory,
      format: terms.format ?? 'parquet',
      rangeSize: terms.rangeSize ?? 20,
      from: terms.from,
      to: terms.to,
      verifiesFiles: terms.verifiesFiles ?? false,
      observer: { begin: () => noProgress },
    })
    try {
      await exported.update({ finalOnly, signal: new AbortController().signal })
      return new Map([...exported.totals].map(([{ name }, totals]): [string, ExportTotals] => [name, totals]))
    } finally {
      exported.close()
    }
  } finally {
    source.close()
  }
}

const STEPS = THOROUGH ? 8 : 4
const ALL = 'blocks,transactions,receipts,logs,erc20-transfers,contracts,balance-diffs,storage-diffs'

test('after every change of the chain, an export is what one made at once is', async (t) => {
  const random = seededRandom(11)
  const directory = temporaryDirectory(t)
  const branches = temporaryDirectory(t)
  const { db, chain } = await openBranches(branches)
  t.after(() => db.close())
  chain.head.finalize({ safe: 0, finalized: 0 })
  let trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 12, random })
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  let kept = 0
  for (let step = 0; step < STEPS; step++) {
    const ancestor = trunk.length - random.below(8)
    const branch = await growBranch(temporaryDirectory(t), {
      trunk: trunk.slice(0, ancestor),
      count: random.below(9),
      random,
    })
    if (step % 4 === 3) await rewindChain(chain, ancestor, { startProgress: () => noProgress })
    else
      await replaceBranch(
        chain,
        ancestor,
        branch.map((block) => ({ block })),
      )
    trunk = [...trunk.slice(0, ancestor), ...(step % 4 === 3 ? [] : branch)]
    const terms = { datadir: branches, datasets: ALL, rangeSize: 4 }
    const totals = await exportOnce({ ...terms, directory })
    kept += totals.get('logs')!.kept
    const straight = temporaryDirectory(t)
    await exportOnce({ ...terms, directory: straight })
    assert.deepEqual(checkFinished(directory), checkFinished(straight), `step ${step}`)
  }
  assert.ok(kept > STEPS, `only ${kept} files were kept`)
})

test('a second run writes nothing; it writes what is missing or damaged, and clears up', async (t) => {
  const directory = temporaryDirectory(t)
  await exportOnce({ directory })
  const whole = checkFinished(directory)
  const times = () =>
    readdirSync(directory)
      .filter((name) => name.includes('__'))
      .map((name) => statSync(join(directory, name)).mtimeMs)
  const written = times()
  const totals = await exportOnce({ directory })
  assert.deepEqual(totals.get('logs'), { files: 0, rows: 0, bytes: 0, kept: 4 })
  assert.deepEqual(times(), written)

  const [first, second, third] = whole.datasets.logs.files.map(({ file }) => join(directory, file))
  rmSync(first)
  writeFileSync(second, 'short')
  writeFileSync(`${third}.tmp`, 'a process was killed here')
  writeFileSync(join(directory, 'network_20261__logs__00000100_to_00000119.parquet'), 'or here')
  writeFileSync(join(directory, 'notes.txt'), 'of the user')
  assert.deepEqual((await exportOnce({ directory })).get('logs')!.files, 2)
  assert.ok(existsSync(join(directory, 'notes.txt')))
  rmSync(join(directory, 'notes.txt'))
  assert.deepEqual(checkFinished(directory), whole)

  const damaged = readFileSync(first)
  damaged[damaged.length >> 1] ^= 1
  writeFileSync(first, damaged)
  assert.equal((await exportOnce({ directory })).get('logs')!.files, 0)
  assert.equal((await exportOnce({ directory, verifiesFiles: true })).get('logs')!.files, 1)
  assert.deepEqual(checkFinished(directory), whole)
})

test('bounds are kept, and a partial range is replaced by a larger one', async (t) => {
  const directory = temporaryDirectory(t)
  const ranges = () => checkFinished(directory).datasets.blocks.files.map(({ from, to, rows }) => [from, to, rows])
  await exportOnce({ directory, from: 25, to: 30 })
  assert.deepEqual(ranges(), [[25, 30, 6]])
  await exportOnce({ directory, from: 10, to: 44 })
  assert.deepEqual(ranges(), [
    [10, 19, 10],
    [20, 39, 20],
    [40, 44, 5],
  ])
  await exportOnce({ directory })
  assert.deepEqual(ranges(), [
    [0, 19, 20],
    [20, 39, 20],
    [40, 59, 20],
    [60, 74, 15],
  ])
})

test('only whole ranges of final blocks are written when only those are wanted', async (t) => {
  const branches = temporaryDirectory(t)
  const directory = temporaryDirectory(t)
  const { db, chain } = await openBranches(branches)
  t.after(() => db.close())
  chain.head.finalize({ safe: 0, finalized: 0 })
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 20, random: seededRandom(2) })
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const ends = async () => {
    await exportOnce({ datadir: branches, directory, rangeSize: 4, finalOnly: true })
    return checkFinished(directory).datasets.logs.files.map(({ to }) => to)
  }
  assert.deepEqual(await ends(), [])
  chain.head.finalize({ safe: 17, finalized: 10 })
  assert.deepEqual(await ends(), [3, 7])
  chain.head.finalize({ safe: 19, finalized: 15 })
  assert.deepEqual(await ends(), [3, 7, 11, 15])
})

test('what an export must not add to is named', async (t) => {
  const directory = temporaryDirectory(t)
  await exportOnce({ directory, datasets: 'logs' })
  const refused = (terms: Partial<Terms>, message: RegExp) =>
    assert.rejects(
      exportOnce({ directory, datasets: 'logs', ...terms }),
      (error) => error instanceof OtherExport && message.test(error.message),
    )
  const other = temporaryDirectory(t)
  const { db } = await openBranches(other)
  db.close()
  await refused({ datadir: other }, /holds logs with another chain \(network_20261, block 0 is 0x3afa/)
  await refused({ rangeSize: 10 }, /holds logs with --range-size 20; use another --out/)
  await refused({ format: 'csv' }, /holds logs with the format "parquet"/)
  await refused(
    { addresses: [parseHex('0x00000000000000000000000000000000000000aa')] },
    /holds logs with --address null/,
  )
  const before = readFileSync(join(directory, 'manifest.json'))
  rmSync(join(directory, 'manifest.json'))
  await refused({}, /holds network_20261__logs__00000000_to_00000019\.parquet, which cairn export did not write there/)
  writeFileSync(join(directory, 'manifest.json'), '{"version": 2}')
  await refused({}, /manifest\.json is no manifest of this version/)
  writeFileSync(join(directory, 'manifest.json'), before)
  checkFinished(directory)
})

test('one export at a time has a directory', async (t) => {
  const directory = temporaryDirectory(t)
  const source = openExportSource(datadir)
  t.after(() => source.close())
  const terms = {
    store: createDirectoryStore(directory),
    directory,
    format: 'csv',
    rangeSize: 20,
    verifiesFiles: false,
    observer: { begin: () => noProgress },
  } as const
  const first = await openRangeExport(source, chooseDatasets(['blocks']), terms)
  await assert.rejects(openRangeExport(source, chooseDatasets(['logs']), terms), ExportLocked)
  first.close()
  const second = await openRangeExport(source, chooseDatasets(['logs']), terms)
  second.close()
})
