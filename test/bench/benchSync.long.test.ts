import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { CommitFigures } from '../../bench/sync/commits.js'
import type { SyncRate } from '../../bench/sync/rates.js'
import type { ReorgFigures } from '../../bench/sync/reorgs.js'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const PROGRAM = fileURLToPath(new URL('../../bench/sync.js', import.meta.url))

interface Report {
  rates: SyncRate[]
  reorgs: ReorgFigures
  commits: CommitFigures
}

test('bench:sync measures a short chain, and no query meets a chain between two branches', async (t) => {
  const json = join(temporaryDirectory(t), 'report.json')
  const args = ['--blocks', '4', '--depth', '3', '--reorgs', '3', '--commits', '3', '--json', json]
  const { code, stderr } = await spawnNode(['--enable-source-maps', PROGRAM, ...args]).ended
  assert.equal(code, 0, stderr)
  const { rates, reorgs, commits } = JSON.parse(readFileSync(json, 'utf8')) as Report
  assert.equal(rates.length, 5)
  for (const { name, blocksPerSecond, share } of rates) assert.ok(blocksPerSecond > 0 && share > 0, name)
  assert.deepEqual([reorgs.depth, reorgs.reorgs, reorgs.mixed], [3, 3, 0])
  assert.ok(reorgs.transactionMs.p50 > 0 && reorgs.noticeMs.p50 >= reorgs.transactionMs.p50)
  assert.ok(reorgs.queries.otherwise.count > 10)
  assert.ok(commits.upstreamToSubscriber.p99 > 0)
})
