import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnvilComparison, compareAnvil } from './compareAnvil.js'
import { measureLoad } from './concurrent.js'
import { describeEnvironment, type Environment } from './environment.js'
import { addTips, cairnFolder, type Filled, fill, openStores, readFilled, storeNames } from './fill.js'
import { createLogChain, type LogChain } from './logChain.js'
import { measureShapes, type ShapeResult, warmUp } from './measure.js'
import { type BenchOptions, parseBenchOptions, USAGE } from './options.js'
import { serveCairn } from './serve.js'
import { makeShapes } from './shapes.js'
import type { LogStore } from './store.js'
import { printAnvil, printFigures, printTable, round } from './table.js'
import { measureTenThousand } from './tenThousand.js'

/* `npm run bench:logs -- --logs N [--seed S] --json FILE`: a synthetic chain of N logs through the store's own writer and
 * into other stores beside it, on the same machine in the same run; then the shapes of filters over HTTP. */

const options = readOptions()
const directory = options.datadir ?? mkdtempSync(join(tmpdir(), 'cairn-bench-'))
mkdirSync(directory, { recursive: true })
try {
  await bench(options)
} finally {
  if (options.datadir === undefined) rmSync(directory, { recursive: true, force: true })
}

function readOptions(): BenchOptions {
  try {
    return parseBenchOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`)
    process.exit(2)
  }
}

async function bench({ reuse, json, peers, ordinary, ...rest }: BenchOptions): Promise<void> {
  const wanted = storeNames(ordinary, peers)
  const before = reuse ? readFilled(directory) : undefined
  const missing = before ? wanted.filter((name) => name !== 'ordinary' && !before.stores.includes(name)) : []
  if (missing.length > 0) throw new Error(`--reuse: ${directory} was filled without ${missing.join(', ')}`)
  const others = await openStores(before ? wanted.filter((name) => before.stores.includes(name)) : wanted, directory)
  try {
    const { logs, seed } = before ?? rest
    const environment = describeEnvironment()
    const chain = createLogChain(seed)
    const asFilled = before ?? (await fill(chain, { logs, seed, directory, others }))
    const { tips } = rest
    const filled = tips > 0 ? await addTips(chain, asFilled, { count: tips, directory, others }) : asFilled
    const measured = await measure(chain, { filled, others })
    const report: Report = { logs, seed, ...environment, ...measured, ...filled.figures }
    for (const name of wanted) if (filled.peers[name]) report.peers = { ...report.peers, [name]: filled.peers[name] }
    const anvil = peers.includes('anvil') ? await askAnvil(chain, filled) : undefined
    if (anvil) addAnvil(report, anvil)
    printTable(report.shapes ?? [])
    if (anvil) printAnvil(anvil)
    printFigures(report)
    writeFileSync(json, `${JSON.stringify(report, (_key, value) => round(value), 2)}\n`)
  } finally {
    for (const store of others) await store.close()
  }
}

interface Report extends Environment, Awaited<ReturnType<typeof measure>> {
  logs: number
  seed: number
  peers?: { [name: string]: unknown }
}

/** Runs the phases on a server in a process of its own. */
async function measure(chain: LogChain, { filled, others }: { filled: Filled; others: readonly LogStore[] }) {
  const { seed, parameters } = filled
  const { phases, runs, clients, seconds } = options
  const shapes = makeShapes({ chain, seed, ...parameters })
  const { url, pid, client, hashOf, stop } = await serveCairn(cairnFolder(directory))
  const measured: {
    shapes?: ShapeResult[]
    tenThousand?: Awaited<ReturnType<typeof measureTenThousand>>
    load?: Awaited<ReturnType<typeof measureLoad>>
  } = {}
  try {
    if (phases.includes('shapes')) {
      await warmUp(client, parameters.head)
      measured.shapes = await measureShapes(shapes, { client, hashOf, others, runs })
    }
    if (phases.includes('tenThousand')) {
      process.stderr.write('10,000 results beside a server that sends them from memory\n')
      measured.tenThousand = await measureTenThousand(shapes, { client, directory, runs })
    }
    if (phases.includes('load')) {
      process.stderr.write(`${clients} clients for ${seconds} s\n`)
      const plan = { url, pid, seed, parameters, shapes, hashOf, clients, seconds }
      measured.load = await measureLoad(plan, { client, checker: others[0] })
    }
    return measured
  } finally {
    await stop()
  }
}

async function askAnvil(chain: LogChain, { logs, seed }: Filled): Promise<AnvilComparison> {
  const folder = mkdtempSync(join(directory, 'anvil-'))
  try {
    const { anvilLogs, runs } = options
    return await compareAnvil(chain, { seed, logs: Math.min(logs, anvilLogs), directory: folder, runs })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Adds the comparison with anvil, and its times to the shapes. */
function addAnvil(report: Report, anvil: AnvilComparison): void {
  report.peers = { ...report.peers, anvil }
  for (const { name, p50Ms } of anvil.shapes) {
    const shape = report.shapes?.find((other) => other.name === name)
    if (shape) shape.peers.anvil = p50Ms
  }
}
