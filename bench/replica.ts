import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isMainThread, Worker } from 'node:worker_threads'
import { YOUNG_GENERATION_MB } from '../src/workers/spawn.js'
import { describeEnvironment } from './environment.js'
import { openChain } from './replica/chain.js'
import { growReplica, measureCatchUp, measureReorgs, measureTip } from './replica/phases.js'
import { round } from './table.js'

/* `npm run bench:replica -- --json FILE`: how fast a replica applies blocks of 99 transactions, 251 logs, 400 changed accounts and
 * 1,000 changed slots on a state of 250,000 accounts and 500,000 slots; how soon a reader has a new block; how long a reorg takes. */

const USAGE = `usage: npm run bench:replica -- --json FILE
  --accounts N       of the state before: 250000
  --slots N          500000
  --blocks N         that are applied while catching up: 1000
  --tip N            that come one by one: 200
  --reorg N          blocks of a reorg: 32
  --interval N       most blocks that the trie is behind while catching up: 1024
  --only PHASES      of catchUp,tip,reorg,baseline; default: all. 'tip' and 'reorg' follow 'catchUp'
  --keep DIR         where the blocks are kept for the next run; default: they are made again`

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    accounts: { type: 'string', default: '250000' },
    slots: { type: 'string', default: '500000' },
    blocks: { type: 'string', default: '1000' },
    tip: { type: 'string', default: '200' },
    reorg: { type: 'string', default: '32' },
    interval: { type: 'string', default: '1024' },
    keep: { type: 'string' },
    only: { type: 'string', default: 'catchUp,tip,reorg,baseline' },
  },
})
const [accounts, slots, blocks, tip, reorg, trieInterval] = [
  values.accounts,
  values.slots,
  values.blocks,
  values.tip,
  values.reorg,
  values.interval,
].map(Number)
if (
  values.json === undefined ||
  ![accounts, slots, blocks, tip, reorg, trieInterval].every((n) => Number.isSafeInteger(n) && n > 0)
) {
  console.error(USAGE)
  process.exit(2)
}
// As in the product, the thread that writes is not the main one.
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), {
    argv: process.argv.slice(2),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  worker.on('exit', (code) => {
    process.exitCode = code
  })
} else await bench()

async function bench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-replica-'))
  const chainDirectory = values.keep ?? directory
  mkdirSync(chainDirectory, { recursive: true })
  try {
    const environment = describeEnvironment()
    const chain = await openChain(chainDirectory, { accounts, slots, blocks: blocks + tip, reorg })
    const grownPath = join(chainDirectory, 'grown.db')
    if (!existsSync(grownPath)) await growReplica(chain, join(directory, 'grown'), grownPath)
    const copy = (name: string) => {
      const datadir = join(directory, name)
      mkdirSync(datadir)
      copyFileSync(grownPath, join(datadir, 'cairn.db'))
      return datadir
    }
    const figures: { [name: string]: unknown } = {}
    const show = (name: string, value: unknown) => {
      figures[name] = value
      console.log(JSON.stringify({ [name]: value }, (_key, each) => round(each), 2))
    }
    const caught = copy('catchUp')
    const first = chain.grown + blocks
    const measures: { [name: string]: () => Promise<object> } = {
      catchUp: () => measureCatchUp(chain, caught, { blocks, trieInterval, isThreaded: true }),
      tip: () => measureTip(chain, caught, { from: first + 1, to: first + tip }),
      reorg: () => measureReorgs(chain, caught, 6),
      baseline: () =>
        measureCatchUp(chain, copy('baseline'), { blocks: Math.min(blocks, 200), trieInterval: 1, isThreaded: false }),
    }
    for (const [name, measure] of Object.entries(measures)) {
      if (values.only.split(',').includes(name)) show(name, await measure())
    }
    chain.close()
    writeFileSync(
      values.json!,
      `${JSON.stringify({ ...environment, accounts, slots, trieInterval, ...figures }, (_key, each) => round(each), 2)}\n`,
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
