import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createLogChain } from '../../test/support/chains/logChain.js'
import { serveCairn } from '../lib/serve.js'
import { type AnvilComparison, compareAnvil } from './compareAnvil.js'
import { addTips, cairnFolder, fill, openStores, readFilled, storeNames } from './fill.js'
import { type LoadResult, measureLoad } from './load.js'
import { measureShapes, type ShapeResult, warmUp } from './measure.js'
import type { LogsRun } from './options.js'
import { makeShapes } from './shapes.js'
import { measureStream, type StreamFigures } from './stream.js'
import { measureTenThousand } from './tenThousand.js'

/** Databases of the same logs, filled in this run or, with `reuse`, before. `report`: what filling them took.
 *  @throws Error when they lack a store that is asked for */
export async function openFilled({ values, directory: temporary, after }: LogsRun) {
  const { datadir: directory = temporary, reuse, tips, peers } = values
  if (reuse && values.datadir === undefined) throw new Error('--reuse: say with --datadir which databases')
  mkdirSync(directory, { recursive: true })
  const wanted = storeNames(!values['no-ordinary'], peers)
  const before = reuse ? readFilled(directory) : undefined
  const missing = before ? wanted.filter((name) => name !== 'ordinary' && !before.stores.includes(name)) : []
  if (missing.length > 0) throw new Error(`--reuse: ${directory} was filled without ${missing.join(', ')}`)
  const others = await openStores(before ? wanted.filter((name) => before.stores.includes(name)) : wanted, directory)
  for (const store of others) after(() => store.close())
  const { logs, seed } = before ?? values
  const chain = createLogChain(seed)
  const asFilled = before ?? (await fill(chain, { logs, seed, directory, others }))
  const filled = tips > 0 ? await addTips(chain, asFilled, { count: tips, directory, others }) : asFilled
  const report = { logs, seed, ...filled.figures, peers: filled.peers }
  return { chain, filled, directory, others, report }
}

/** A server of the filled database, in a process of its own, and the filters for it. */
async function openServer(run: LogsRun) {
  const { chain, filled, directory } = await run.once(openFilled)
  const server = await serveCairn(cairnFolder(directory))
  run.after(server.stop)
  return { ...server, shapes: makeShapes({ chain, seed: filled.seed, ...filled.parameters }) }
}

/** Asks all filters over HTTP, and the other stores in process. */
export async function measureFilters(run: LogsRun): Promise<ShapeResult[]> {
  const { filled, others } = await run.once(openFilled)
  const { client, hashOf, shapes } = await run.once(openServer)
  const { runs } = run.values
  await warmUp(client, { head: filled.parameters.head, runs })
  return measureShapes(shapes, { client, hashOf, others, runs })
}

/** The largest answer beside the same bytes from memory. */
export async function measureResultSize(run: LogsRun) {
  const { directory } = await run.once(openFilled)
  const { client, shapes } = await run.once(openServer)
  return measureTenThousand(shapes, { client, directory, runs: run.values.runs })
}

/** All logs by stream, by cursor, and out of DuckDB. */
export async function measureBulkReading(run: LogsRun): Promise<StreamFigures> {
  const { url } = await run.once(openServer)
  return measureStream({ url, directory: run.directory, runs: run.values.runs })
}

/** Many clients with mixed filters. */
export async function measureMixedLoad(run: LogsRun): Promise<LoadResult> {
  const { filled, others } = await run.once(openFilled)
  const { url, pid, hashOf, client, shapes } = await run.once(openServer)
  const { seed, parameters } = filled
  const { clients, seconds, 'idle-seconds': idleSeconds } = run.values
  const plan = { url, pid, seed, parameters, shapes, hashOf, clients, seconds, idleSeconds }
  return measureLoad(plan, { client, checker: others[0] })
}

/** Anvil beside a Cairn with as many logs as anvil executes. */
export async function askAnvil({ values, directory }: LogsRun): Promise<AnvilComparison> {
  const { logs, seed, runs, 'anvil-logs': most } = values
  const folder = join(directory, 'anvil')
  mkdirSync(folder)
  return compareAnvil(createLogChain(seed), { seed, logs: Math.min(logs, most), directory: folder, runs })
}
