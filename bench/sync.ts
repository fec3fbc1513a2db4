import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeEnvironment } from './environment.js'
import { measureCommits } from './sync/commits.js'
import { makeFullChain } from './sync/fullChain.js'
import { measureRates } from './sync/rates.js'
import { measureReorgs } from './sync/reorgs.js'
import { round } from './table.js'

/* `npm run bench:sync -- --json FILE`: how fast full blocks are synced from another Cairn, beside their import from a file;
 * how long a reorg of 64 of them takes; how soon a server sees what `cairn sync` commits. */

const PHASES = ['rates', 'reorgs', 'commits'] as const
const USAGE = `usage: npm run bench:sync -- --json FILE
  --blocks N      of the chain: 300
  --depth N       of reorgs: 64
  --reorgs N      10
  --commits N     blocks that are followed one by one: 100
  --phases LIST   of ${PHASES.join(', ')}: all`

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    blocks: { type: 'string', default: '300' },
    depth: { type: 'string', default: '64' },
    reorgs: { type: 'string', default: '10' },
    commits: { type: 'string', default: '100' },
    phases: { type: 'string', default: PHASES.join(',') },
  },
})
const [blocks, depth, reorgs, commits] = [values.blocks, values.depth, values.reorgs, values.commits].map(Number)
const phases = values.phases.split(',')
const isWrong = ![blocks, depth, reorgs, commits].every((count) => Number.isSafeInteger(count) && count > 0)
if (values.json === undefined || isWrong || !phases.every((name) => PHASES.some((phase) => phase === name))) {
  console.error(USAGE)
  process.exit(2)
}
const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-sync-'))
try {
  const environment = describeEnvironment()
  const chain = await makeFullChain(directory, { blocks, depth })
  const measure = {
    rates: () => measureRates(chain, directory),
    reorgs: () => measureReorgs(chain, { directory, reorgs }),
    commits: () => measureCommits(chain, { directory, blocks: commits }),
  }
  const figures: { [phase: string]: unknown } = {}
  for (const phase of PHASES.filter((name) => phases.includes(name))) {
    figures[phase] = await measure[phase]()
    console.log(format({ [phase]: figures[phase] }))
  }
  chain.close()
  writeFileSync(values.json, `${format({ ...environment, blocks, ...figures })}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function format(report: object): string {
  return JSON.stringify(report, (_key, value) => round(value), 2)
}
