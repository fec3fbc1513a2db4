import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

interface Report {
  logs: number
  shapes?: { name: string; results: number; p50Ms: number; ordinaryP50Ms: number | null; peers: object }[]
  tenThousand?: { results: number; bytes: number; ratio: number }
  load?: LoadReport
  [figure: string]: unknown
}

interface LoadReport {
  clients: number
  requests: number
  lost: number
  errors: object
  kinds: { [kind: string]: { requests: number; p50Ms: number } }
  blockNumber: { probes: number; p99Ms: number; errors: object }
  checked: { answers: number; by: string; wrong: unknown[] }
}

async function benchOk(json: string, args: readonly string[], name = 'logs'): Promise<Report> {
  const program = fileURLToPath(new URL(`../../bench/${name}.js`, import.meta.url))
  const { code, stderr } = await spawnNode(['--enable-source-maps', program, ...args, '--json', json]).ended
  assert.equal(code, 0, stderr)
  return JSON.parse(readFileSync(json, 'utf8')) as Report
}

test('the benchmark measures a small chain, and its databases once more', async (t) => {
  const folder = temporaryDirectory(t)
  const json = join(folder, 'report.json')
  const shared = ['--datadir', join(folder, 'data'), '--runs', '1', '--clients', '4']
  const report = await benchOk(json, ['--logs', '10000', ...shared, '--seconds', '1', '--phases', 'shapes,tenThousand'])
  assert.ok(report.shapes!.length >= 27)
  for (const { name, results, p50Ms, ordinaryP50Ms, peers } of report.shapes!) {
    assert.ok(results >= 0 && p50Ms > 0 && ordinaryP50Ms! > 0, name)
    assert.deepEqual(peers, {})
  }
  const figures = ['bytesPerLog', 'indexBytesPerLog', 'bulkLogsPerSecond', 'ordinaryBulkLogsPerSecond']
  for (const name of [...figures, 'tipBlockP50Ms', 'ordinaryTipBlockP50Ms']) assert.ok(Number(report[name]) > 0, name)
  assert.ok(report.tenThousand!.results > 0 && report.tenThousand!.ratio > 0)
  assert.equal(report.load, undefined)

  const tips = await benchOk(json, [...shared, '--seconds', '1', '--reuse', '--tips', '5', '--phases', 'shapes'])
  assert.ok(Number(tips.tipBlockP50Ms) > 0 && tips.tipBlockP50Ms !== report.tipBlockP50Ms)
  assert.notEqual(tips.ordinaryTipBlockP50Ms, report.ordinaryTipBlockP50Ms)
  assert.equal(tips.bytesPerLog, report.bytesPerLog)

  // The threads of the server start with the first requests.
  const again = await benchOk(json, [...shared, '--seconds', '5', '--reuse', '--no-ordinary', '--phases', 'load'])
  assert.equal(again.logs, 10_000)
  assert.equal(again.shapes, undefined)
  assert.equal(again.bytesPerLog, report.bytesPerLog)
  checkLoad(again.load!)
})

const skip = !THOROUGH && 'takes a minute: npm run test:thorough'

test('the benchmark imports the same transactions as blocks of Osaka and of Amsterdam', { skip }, async (t) => {
  const json = join(temporaryDirectory(t), 'report.json')
  const args = ['--only', 'Amsterdam ether', '--seconds', '0.1', '--blocks', '1']
  const { calls, imports, forks } = await benchOk(json, args, 'evm')
  assert.deepEqual([calls, imports], [[], []])
  const [{ name, blocks, ...rates }, ...others] = forks as { [figure: string]: number | string }[]
  assert.deepEqual([name, blocks, others], ['Amsterdam ether transfers', 1, []])
  for (const [figure, value] of Object.entries(rates)) assert.ok(Number(value) > 0, figure)
})

function checkLoad(load: LoadReport): void {
  assert.equal(load.clients, 4)
  assert.equal(load.lost, 0)
  assert.deepEqual(load.errors, {})
  assert.deepEqual(load.blockNumber.errors, {})
  assert.ok(load.blockNumber.probes > 0 && load.blockNumber.p99Ms > 0)
  const counted = Object.values(load.kinds).reduce((sum, { requests }) => sum + requests, 0)
  assert.equal(counted, load.requests)
  assert.ok(load.requests >= load.clients)
  assert.ok(load.checked.answers > 0)
  assert.deepEqual(load.checked.wrong, [])
}
