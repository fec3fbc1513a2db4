import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A benchmark that never runs breaks unnoticed, so each runs for a few seconds, on data too small for its figures to mean
 * anything. */

interface ShortRun {
  readonly args: readonly string[]
  /** Whether it writes a report to `--json`. */
  readonly json: boolean
}

const SHORT_RUNS: { readonly [name: string]: ShortRun } = {
  start: { args: ['1'], json: false },
  evm: { args: ['--seconds', '0.3', '--only', 'bundled chain'], json: true },
  trie: { args: ['1', '2', '2000'], json: false },
  'l2-events': { args: ['50'], json: false },
  subscriptions: { args: ['--subscribers', '20', '--blocks', '3', '--logs', '10'], json: false },
  replica: {
    args: '--accounts 500 --slots 1000 --blocks 12 --tip 2 --reorg 2 --only catchUp,tip,reorg'.split(' '),
    json: true,
  },
  snapshot: { args: ['--megabytes', '5', '--rounds', '1'], json: true },
}

/** Run by benchRun.long.test.ts, benchSync.long.test.ts and benchLake.test.ts. */
const ELSEWHERE = ['logs', 'sync', 'lake']

/** Not short enough yet, or in need of other programs. */
const BY_HAND = ['follow', 'state', 'replicas', 'stream']

const { scripts } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { scripts: Record<string, string> }
const benches = Object.entries(scripts).filter(([name]) => name.startsWith('bench:'))

test('each benchmark of package.json has a short run or is listed as run by hand', () => {
  const names = benches.map(([name]) => name.slice('bench:'.length))
  assert.deepEqual(names.toSorted(), [...Object.keys(SHORT_RUNS), ...ELSEWHERE, ...BY_HAND].toSorted())
})

for (const [name, command] of benches) {
  const run = SHORT_RUNS[name.slice('bench:'.length)]
  if (run === undefined) continue
  test(`npm run ${name} measures`, async (t) => {
    const script = command.split(' ').at(-1)!
    const json = join(temporaryDirectory(t), 'report.json')
    const args = [...run.args, ...(run.json ? ['--json', json] : [])]
    const { code, stdout, stderr } = await spawnNode([packagePath(`build/${script}.js`), ...args]).ended
    assert.equal(code, 0, stderr)
    assert.notEqual(stdout, '')
    if (run.json) assert.notDeepEqual(JSON.parse(readFileSync(json, 'utf8')), {})
  })
}
