import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AnvilComparison } from '../../bench/logs/compareAnvil.js'
import type { L2EventFigures } from '../../bench/logs/l2Events.js'
import type { LoadResult } from '../../bench/logs/load.js'
import type { ShapeResult } from '../../bench/logs/measure.js'
import type { QuestionFigures } from '../../bench/logs/questions/measure.js'
import type { StreamFigures } from '../../bench/logs/stream.js'
import { runShortBench } from '../support/shortBench.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { findFoundry } from '../support/upstream/foundry.js'

interface Report {
  fill: { logs: number; peers: { [name: string]: object }; [figure: string]: unknown }
  shapes: ShapeResult[]
  anvil: AnvilComparison
  tenThousand: { results: number; ratio: number }
  load: LoadResult
  stream: StreamFigures
  lake: { exported: { logs: { rows: number; bytesPerRow: number } }; comparedAddresses: number; queries: unknown[] }
  questions: { questions: QuestionFigures[] }
  l2Events: L2EventFigures
}

const FIGURES = ['bytesPerLog', 'indexBytesPerLog', 'bulkLogsPerSecond', 'ordinaryBulkLogsPerSecond', 'tipBlockP50Ms']

test('bench:logs: all stores find the same logs, and the files that are exported have them', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  const { fill, shapes, tenThousand, stream, lake } = await runShortBench<Report>(t, 'logs', {
    phases: ['fill', 'shapes', 'tenThousand', 'stream', 'lake'],
    args: `--logs 5000 --runs 1 --peers duckdb --datadir ${datadir}`,
  })
  assert.ok(shapes.length >= 27)
  for (const { name, results, p50Ms, ordinaryP50Ms, peers } of shapes) {
    assert.ok(results >= 0 && p50Ms > 0 && ordinaryP50Ms! > 0 && peers.duckdb > 0, name)
  }
  for (const name of FIGURES) assert.ok(Number(fill[name]) > 0, name)
  assert.ok(tenThousand.results > 0 && tenThousand.ratio > 0)
  assert.ok(stream.readings.length >= 5 && stream.readings.every(({ logs }) => logs === lake.exported.logs.rows))
  assert.ok(stream.rateToCursor > 0 && stream.bytesToCursor < 0.6)
  assert.ok(lake.exported.logs.rows >= 5000 && lake.exported.logs.bytesPerRow > 10 && lake.comparedAddresses > 10)
  assert.equal(lake.queries.length, 10)

  const again = await runShortBench<Report>(t, 'logs', {
    phases: ['fill', 'load'],
    args: `--reuse --tips 2 --peers duckdb --datadir ${datadir} --clients 4 --seconds 1 --idle-seconds 0`,
  })
  assert.equal(again.fill.logs, 5_000)
  assert.equal(again.fill.bytesPerLog, fill.bytesPerLog)
  assert.notEqual(again.fill.ordinaryTipBlockP50Ms, fill.ordinaryTipBlockP50Ms)
  checkLoad(again.load)
})

test('bench:logs: layer-2 events are found page by page', async (t) => {
  const { l2Events } = await runShortBench<Report>(t, 'logs', { phases: ['l2Events'], args: '--l2-blocks 50' })
  assert.equal(l2Events.events, 10_000)
  const byFilter = new Map(l2Events.filters.map((each) => [each.filter, each]))
  assert.deepEqual([byFilter.get('everything')!.events, byFilter.get('everything')!.pages], [10_000, 10])
  assert.equal(byFilter.get('an address that is not there')!.events, 0)
  assert.ok(byFilter.get('frequent address')!.events > byFilter.get('rare address')!.events)
})

test('bench:logs: the questions of the documentation have the answers of DuckDB', async (t) => {
  const args = `--question-blocks 30 --runs ${THOROUGH ? 5 : 1}`
  const { questions } = await runShortBench<Report>(t, 'logs', { phases: ['questions'], args })
  const different = questions.questions.filter(({ isSame }) => isSame === false).map(({ question }) => question)
  assert.deepEqual(different, ['Calls of a contract']) // decoded arguments, and the input
  assert.ok(questions.questions.length >= 15 && questions.questions.every(({ rows }) => rows > 0))
})

const skip = findFoundry('anvil') === undefined && 'anvil cannot be installed'

test('bench:logs: anvil finds the same logs', { skip }, async (t) => {
  const { anvil } = await runShortBench<Report>(t, 'logs', { phases: ['anvil'], args: '--logs 1000 --runs 1' })
  assert.ok(anvil.logs >= 1_000 && anvil.shapes.length > 20, JSON.stringify(anvil.leftOut))
})

function checkLoad(load: LoadResult): void {
  assert.deepEqual([load.clients, load.lost, load.errors, load.blockNumber.errors], [4, 0, {}, {}])
  assert.ok(load.blockNumber.probes > 0 && load.blockNumber.p99Ms > 0)
  const counted = Object.values(load.kinds).reduce((sum, { requests }) => sum + requests, 0)
  assert.equal(counted, load.requests)
  assert.ok(load.requests > 0)
  if (process.platform === 'linux') assert.ok(load.idleMemory!.anonymousMb > 0)
  assert.ok(load.checked.answers > 0)
  assert.deepEqual(load.checked.wrong, [])
}
