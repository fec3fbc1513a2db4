import { formatData } from '../../src/lib/hex.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import { startDefaultCairn } from '../../test/support/cairn.js'
import { startAnvilWith } from './anvilState.js'
import { medianRound } from './askServer.js'
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
  /** Seconds that a server is asked each kind of call before it counts. */
  warm: number
  /** Of `seconds` each, the servers in turn. */
  rounds: number
  /** Without it, calls are asked in process alone. */
  http: boolean
  acceptThreads: number
  anvil: boolean
}

/** Measures calls at the head of the database of `datadir`: by each engine in a process of its own, then over HTTP. */
export async function measureCalls(options: CallOptions): Promise<CallRun> {
  const { datadir, names, seconds, http } = options
  const inProcess = {} as { [engine in EngineName]: CallsResult[] }
  for (const engine of ENGINES) {
    process.stderr.write(`\rcalls in process: ${engine}\x1b[K`)
    const plan: CallsPlan = { engine, datadir, names: [...names], seconds, warmSeconds: Math.min(1, seconds) }
    inProcess[engine] = await runOnce<CallsResult[]>('evmCalls', plan)
  }
  const rateOf = (engine: EngineName, name: string) =>
    inProcess[engine].find((result) => result.name === name)!.perSecond
  const asked = http ? await askServers(options) : undefined
  const most = CONNECTIONS[CONNECTIONS.length - 1]
  const calls = names.map((name): CallFigures => {
    const [own, other] = [asked?.cairn[name] ?? {}, asked?.anvil?.[name] ?? {}]
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
  return { calls, anvilVersion: asked?.anvilVersion }
}

type ByName = { [name: string]: { [connections: number]: ClientResult } }

interface Asked {
  name: string
  url: string
  pid: number
  /** Of the program; Cairn's is that of the checkout. */
  version?: string
  stop(): Promise<unknown>
}

/** Asks Cairn and, where it was asked, anvil in turn, both started before: what else runs on the machine meets both. */
async function askServers(options: CallOptions): Promise<{ cairn: ByName; anvil?: ByName; anvilVersion?: string }> {
  const cairn = await startCairn(options)
  const anvil = options.anvil ? await startAnvil(options).catch((error) => stopAnd(cairn, error)) : undefined
  const servers = anvil === undefined ? [cairn] : [cairn, anvil]
  try {
    const [own, peer] = await askInTurn(servers, options)
    return { cairn: own, anvil: peer, anvilVersion: anvil?.version }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

async function stopAnd(server: Asked, error: unknown): Promise<never> {
  await server.stop()
  throw error
}

async function startCairn({ datadir, acceptThreads }: CallOptions): Promise<Asked> {
  const args = ['--open', '--datadir', datadir, '--accept-threads', String(acceptThreads)]
  const { url, running, stop } = await startDefaultCairn({ after: () => {} }, args)
  return { name: 'cairn', url, pid: running.child.pid!, stop }
}

async function startAnvil({ datadir, directory }: CallOptions): Promise<Asked> {
  const db = openForReading(datadir)
  return { name: 'anvil', ...(await startAnvilWith(readHeadState(db), directory).finally(() => db.close())) }
}

/** Results of each server, in their order: of the median round, each from a client process that is new. */
async function askInTurn(
  servers: readonly Asked[],
  { datadir, names, seconds, warm, rounds }: CallOptions,
): Promise<ByName[]> {
  const results = servers.map((): ByName => ({}))
  const shapes = makeCallShapes().filter(({ name }) => names.includes(name))
  for (const shape of shapes) {
    const expected = expectedAnswers(datadir, shape)
    for (const byName of results) byName[shape.name] = {}
    for (const connections of CONNECTIONS) {
      const found = servers.map((): ClientResult[] => [])
      for (let round = 0; round < rounds; round++) {
        for (const [at, { name, url, pid: serverPid }] of servers.entries()) {
          process.stderr.write(`\rcalls over HTTP: ${shape.name}, ${connections} connections, ${name}, ${round}\x1b[K`)
          // Servers run for days: each is asked until its code is compiled before it counts.
          const warmSeconds = round === 0 ? warm : Math.min(1, seconds)
          const plan: ClientPlan = { url, serverPid, shape: shape.name, connections, seconds, warmSeconds, expected }
          found[at].push(await runOnce<ClientResult>('evmClients', plan))
        }
      }
      for (const [at, each] of found.entries()) results[at][shape.name][connections] = medianRound(each)
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
