import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeEnvironment } from './environment.js'
import { measureCalls } from './evm/calls.js'
import { measureImports, requireBusyChain } from './evm/imports.js'
import { type EvmBenchOptions, parseEvmBenchOptions, USAGE } from './evm/options.js'
import { printCalls, printImports } from './evm/table.js'
import { round } from './table.js'

/* `npm run bench:evm -- [--peers anvil] --json FILE`: calls at the head of a database of full blocks, and imports, by our
 * interpreter, by that of @ethereumjs over the same store, and by the packages as they come; calls over HTTP too, beside
 * anvil with the same state. */

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
  process.stderr.write('making full blocks\n')
  const { datadir } = await requireBusyChain('contract calls', { blocks, directory })
  const called =
    names.calls.length > 0
      ? await measureCalls({ datadir, directory, names: names.calls, seconds, http, anvil })
      : { calls: [] }
  const imported = await measureImports(names.imports, { seconds, blocks, directory })
  printCalls(called.calls)
  printImports(imported.imports, imported.leftOut)
  const report = { ...environment, seconds, blocks, ...called, ...imported }
  writeFileSync(json, `${JSON.stringify(report, (_key, value) => round(value), 2)}\n`)
}
