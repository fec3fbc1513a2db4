import { formatData } from '../../src/lib/hex.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import { startDefaultCairn } from '../../test/support/cairn.js'
import { startAnvilWith } from './anvilState.js'
import { readHeadState } from './databases.js'
import { runOnce } from './imports.js'
import {
  type CallsPlan,
  type CallsResult,
  type ClientPlan,
  type ClientResult,
  ENGINES,
  type EngineName,
} from './plans.js'
import { type CallShape, makeCallShapes, slotReader } from './shapes.js'

/** What came of a call. */
export interface CallFigures {
  name: string
  /** In process, on one core, over SQLite: our interpreter. */
  perSecond: number
  /** Package defaults. */
  referencePerSecond: number
  /** `--evm reference`, over the same SQLite. */
  evmReferencePerSecond: number
  /** Over HTTP with 16 connections; null where it was not asked. */
  httpPerSecond: number | null
  anvilPerSecond: number | null
  /** By number of connections. */
  http: { [connections: number]: ClientResult }
  anvil: { [connections: number]: ClientResult }
}

const CONNECTIONS = [1, 16]
// Variants whose answers over HTTP are compared each time that they are asked.
const CHECKED = 4

/** All calls, and the version of anvil where it was asked. */
export interface CallRun {
  calls: CallFigures[]
  anvilVersion?: string
}

export interface CallOptions {
  datadir: string
  directory: string
  names: readonly string[]
  seconds: number
  http: boolean
  acceptThreads: number
  anvil: boolean
}

/** Measures calls at the head of the database of `datadir`: by each engine in a process of its own, then over HTTP. */
export async function measureCalls(options: CallOptions): Promise<CallRun> {
  const { datadir, names, seconds, http, anvil } = options
  const inProcess = {} as { [engine in EngineName]: CallsResult[] }
  for (const engine of ENGINES) {
    process.stderr.write(`\rcalls in process: ${engine}\x1b[K`)
    const plan: CallsPlan = { engine, datadir, names: [...names], seconds, warmSeconds: Math.min(1, seconds) }
    inProcess[engine] = await runOnce<CallsResult[]>('evmCalls', plan)
  }
  const rateOf = (engine: EngineName, name: string) =>
    inProcess[engine].find((result) => result.name === name)!.perSecond
  const cairn = http ? await askCairn(options) : undefined
  const peer = anvil ? await askAnvil(options) : undefined
  const most = CONNECTIONS[CONNECTIONS.length - 1]
  const calls = names.map((name): CallFigures => {
    const [own, other] = [cairn?.[name] ?? {}, peer?.byName[name] ?? {}]
    return {
      name,
      perSecond: rateOf('cairn', name),
      referencePerSecond: rateOf('defaults', name),
      evmReferencePerSecond: rateOf('reference', name),
      httpPerSecond: own[most]?.perSecond ?? null,
      anvilPerSecond: other[most]?.perSecond ?? null,
      http: own,
      anvil: other,
    }
  })
  return { calls, anvilVersion: peer?.version }
}

type ByName = { [name: string]: { [connections: number]: ClientResult } }

async function askCairn(options: CallOptions): Promise<ByName> {
  const args = ['--open', '--datadir', options.datadir, '--accept-threads', String(options.acceptThreads)]
  const server = await startDefaultCairn({ after: () => {} }, args)
  const { url, running, stop } = server
  try {
    return await askServer({ name: 'cairn', url, pid: running.child.pid! }, options)
  } finally {
    await stop()
  }
}

async function askAnvil(options: CallOptions): Promise<{ byName: ByName; version: string }> {
  const db = openForReading(options.datadir)
  const anvil = await startAnvilWith(readHeadState(db), options.directory).finally(() => db.close())
  try {
    return { byName: await askServer({ name: 'anvil', ...anvil }, options), version: anvil.version }
  } finally {
    await anvil.stop()
  }
}

/** Asks all shapes with each number of connections, from a client process that is new each time. */
async function askServer(
  server: { name: string; url: string; pid: number },
  { datadir, names, seconds }: CallOptions,
): Promise<ByName> {
  const results: ByName = {}
  const shapes = makeCallShapes().filter(({ name }) => names.includes(name))
  for (const shape of shapes) {
    const expected = expectedAnswers(datadir, shape)
    results[shape.name] = {}
    for (const connections of CONNECTIONS) {
      process.stderr.write(`\rcalls over HTTP: ${server.name}, ${shape.name}, ${connections} connections\x1b[K`)
      const warmSeconds = Math.min(1, seconds)
      const { url, pid: serverPid } = server
      const plan: ClientPlan = { url, serverPid, shape: shape.name, connections, seconds, warmSeconds, expected }
      results[shape.name][connections] = await runOnce<ClientResult>('evmClients', plan)
    }
  }
  process.stderr.write('\n')
  return results
}

function expectedAnswers(datadir: string, shape: CallShape): ClientPlan['expected'] {
  const db = openForReading(datadir)
  try {
    const reads = createStateReads(db)
    const head = createChainReader(db).head()!
    const readSlot = slotReader((address, slot) => reads.storage(address, slot, head))
    const variants = Array.from({ length: Math.min(CHECKED, shape.variants) }, (_, variant) => variant)
    return Object.fromEntries(variants.map((variant) => [variant, formatData(shape.expected(variant, readSlot))]))
  } finally {
    db.close()
  }
}
