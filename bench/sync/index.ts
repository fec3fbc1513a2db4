import { startDefaultCairn } from '../../test/support/cairn.js'
import { runBench } from '../lib/bench.js'
import { measureCommits } from './commits.js'
import { measureEngine, printEngine } from './engine.js'
import { measureFollow, printFollow } from './follow.js'
import { makeFullChain } from './fullChain.js'
import { OPTIONS, type SyncRun } from './options.js'
import { measureRates } from './rates.js'
import { measureReorgs } from './reorgs.js'
import { measureSparse, printSparse } from './sparse.js'
import { measureStarts } from './start.js'
import { measureSubscriptions, printSubscriptions } from './subscriptions.js'

/* `npm run bench:sync`: how a server gets its chain, how soon it has a new block, and how soon its clients do. */

const openFullChain = async ({ directory, values, after }: SyncRun) => {
  const chain = await makeFullChain(directory, values)
  after(chain.close)
  return chain
}

/** A server of that chain, in a process of its own, which others follow. */
const openUpstream = async (run: SyncRun) => {
  const { datadir } = await run.once(openFullChain)
  return startDefaultCairn(run, ['--datadir', datadir, '--open'])
}

const openBoth = async (run: SyncRun) => ({
  chain: await run.once(openFullChain),
  upstream: await run.once(openUpstream),
})

await runBench({
  name: 'sync',
  options: OPTIONS,
  phases: {
    rates: {
      about: 'full blocks synced from another Cairn, beside their import from a file',
      run: async (run) => measureRates(await openBoth(run), { directory: run.directory, ways: run.values.ways }),
    },
    reorgs: {
      about: 'reorgs of --depth full blocks, and log queries meanwhile',
      run: async (run) => {
        const { reorgs, rest } = run.values
        return measureReorgs(await openBoth(run), { directory: run.directory, reorgs, rest })
      },
    },
    commits: {
      about: 'notices of a server beside `cairn sync`, after its commits',
      run: async (run) => measureCommits(await openBoth(run), { directory: run.directory, blocks: run.values.commits }),
    },
    engine: {
      about: 'full blocks as payloads of a consensus client, beside geth with --geth',
      run: async (run) => measureEngine(run, await run.once(openFullChain)),
      print: printEngine,
    },
    start: {
      about: '`serve --fixture`, from the start of the process to the first answer',
      run: ({ values }) => measureStarts(values.starts),
    },
    subscriptions: {
      about: 'WebSocket subscribers of logs, beside `geth --dev` with --geth',
      run: measureSubscriptions,
      print: printSubscriptions,
    },
    follow: {
      about: "notices of new blocks after anvil's own",
      isUsual: false,
      run: measureFollow,
      print: printFollow,
    },
    sparse: {
      about: "blocks of mainnet's size with sparse state, beside a complete one; calls of unknown contracts",
      isUsual: false,
      run: measureSparse,
      print: printSparse,
    },
  },
})
