import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeEnvironment } from './environment.js'
import { measureCalls } from './evm/calls.js'
import { measureForks } from './evm/forks.js'
import { measureImports, requireBusyChain } from './evm/imports.js'
import { type EvmBenchOptions, parseEvmBenchOptions, USAGE } from './evm/options.js'
import { printCalls, printForks, printImports, printTraces } from './evm/table.js'
import { measureTraces } from './evm/traces.js'
import { round } from './table.js'

/* `npm run bench:evm -- [--peers anvil] --json FILE`: calls at the head of a database of full blocks, traces of them, and imports, by our
 * interpreter, by that of @ethereumjs over the same store, and by the packages as they come; calls over HTTP too, beside
 * anvil with the same state or blocks. */

const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-evm-'))
try {
  await bench(readOptions())
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function readOptions(): EvmBenchOptions {
  try {
    return parseEvmBenchOptions(process.argv.slice(2))
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    console.error(`${(error as Error).message}\n${USAGE}`)
    process.exit(2)
  }
}

async function bench({ json, seconds, blocks, http, anvil, ...names }: EvmBenchOptions): Promise<void> {
  const environment = describeEnvironment()
  const makeHead = async () => {
    process.stderr.write('making full blocks\n')
    const { chain, datadir } = await requireBusyChain('contract calls', { blocks, directory })
    return { genesis: chain.genesis!, datadir }
  }
  // Calls and traces are asked on the same chain.
  const { genesis, datadir } =
    names.calls.length + names.traces.length > 0 ? await makeHead() : { genesis: '', datadir: '' }
  const called =
    names.calls.length > 0
      ? await measureCalls({ datadir, directory, names: names.calls, seconds, http, anvil })
      : { calls: [] }
  const traces =
    names.traces.length > 0 ? await measureTraces(names.traces, { datadir, genesis, seconds, http, anvil }) : []
  const imported = await measureImports(names.imports, { seconds, blocks, directory })
  const forks = await measureForks(names.forks, { seconds, blocks, directory })
  printCalls(called.calls)
  printTraces(traces)
  printImports(imported.imports, imported.leftOut)
  printForks(forks)
  const report = { ...environment, seconds, blocks, ...called, traces, ...imported, forks }
  writeFileSync(json, `${JSON.stringify(report, (_key, value) => round(value), 2)}\n`)
}
