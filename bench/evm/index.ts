import { runBench } from '../lib/bench.js'
import { measureCalls } from './calls.js'
import { measureForks } from './forks.js'
import { measureGethCalls, printGethCalls } from './gethCalls.js'
import { openGethPair } from './gethPair.js'
import { measureGethProofs, printGethProofs } from './gethProofs.js'
import { measureImports, requireBusyChain } from './imports.js'
import { type EvmRun, OPTIONS, pickNames } from './options.js'
import { measureState } from './state.js'
import { printCalls, printForks, printImports, printTraceIndex, printTraces } from './table.js'
import { measureTraceIndex } from './traceIndex.js'
import { measureTraces } from './traces.js'

/* `npm run bench:evm`: calls, traces and imports by our interpreter, by that of @ethereumjs over the same store, and by
 * the packages as they come; calls and traces over HTTP too, beside anvil with the same state or blocks; a large
 * state. */

/** What all phases on full blocks are measured with. */
async function plan({ values, directory }: EvmRun) {
  const { seconds, blocks, gas: mgas, slots, peers, 'accept-threads': acceptThreads } = values
  const http = !values['no-http']
  return { seconds, blocks, mgas, slots, directory, http, acceptThreads, anvil: peers.includes('anvil') }
}

/** A database of full blocks. */
async function openHead(run: EvmRun) {
  process.stderr.write('making full blocks\n')
  const { chain, datadir } = await requireBusyChain('contract calls', await run.once(plan))
  return { genesis: chain.genesis!, datadir, ...(await run.once(plan)) }
}

await runBench({
  name: 'evm',
  options: OPTIONS,
  phases: {
    calls: {
      about: 'eth_call at the head of a database of full blocks',
      run: async (run) => {
        const { warm, 'call-rounds': rounds } = run.values
        return measureCalls({ ...(await run.once(openHead)), names: pickNames('calls', run.values), warm, rounds })
      },
      print: printCalls,
    },
    traces: {
      about: 'debug_traceBlockByNumber of full blocks',
      run: async (run) => measureTraces(pickNames('traces', run.values), await run.once(openHead)),
      print: printTraces,
    },
    imports: {
      about: 'imports of full blocks and of chains in files',
      run: async (run) => measureImports(pickNames('imports', run.values), await run.once(plan)),
      print: printImports,
    },
    forks: {
      about: 'imports of the same transactions as blocks of Osaka and of Amsterdam',
      run: async (run) =>
        measureForks(pickNames('forks', run.values), {
          ...(await run.once(plan)),
          rounds: run.values['fork-rounds'],
        }),
      print: printForks,
    },
    traceIndex: {
      about: 'imports of full blocks with and without the trace index, and methods that use it',
      isUsual: false,
      run: async (run) => measureTraceIndex({ ...(await run.once(plan)), rounds: run.values.rounds }),
      print: printTraceIndex,
    },
    state: {
      about: 'imports, roots and proofs of a state of --accounts accounts',
      isUsual: false,
      run: measureState,
    },
    gethProofs: {
      about: 'eth_getProof of a state of --accounts accounts, beside a full geth on the PATH',
      isUsual: false,
      run: measureGethProofs,
      print: printGethProofs,
    },
    gethCalls: {
      about: 'eth_call with state overrides and traces of full blocks, beside a full geth on the PATH',
      isUsual: false,
      run: async (run) => measureGethCalls(run, await run.once(plan)),
      print: printGethCalls,
    },
    gethWrites: {
      about: 'bytes written for each new block of a state of --accounts accounts, beside a full geth on the PATH',
      isUsual: false,
      run: async (run) => (await run.once(openGethPair)).writes,
    },
  },
})
