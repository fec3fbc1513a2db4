import { join } from 'node:path'
import { keccak256 } from '../../src/chain/crypto.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { bindResults, type RecordedCall } from '../../src/rpc/examples.js'
import { type CairnServer, runCairnOk, serveFixture, startCairn } from './cairn.js'
import { type BundleFiles, CABINET, cabinetBundle, writeBundle, writeCabinetChain } from './chains/cabinetChain.js'
import { FIXTURE_FOLDER } from './chains/fixture.js'
import { importFixture } from './chains/fixtureDatabase.js'
import { type Answer, openSocket, send } from './rpcClient.js'
import { temporaryDirectory } from './temporary.js'
import { untilValue } from './until.js'
import { openChainAnswers, type ScriptedUpstream, startScriptedUpstream } from './upstream/scriptedUpstream.js'

/* The servers on which the examples of the methods are recorded and replayed. */

type After = { after(callback: () => void | Promise<void>): void }

/** First block of the server `partial`. */
export const PARTIAL_FIRST = 40
// Its upstream does not answer for blocks from this one on.
const FILLING_STOPS = 41

/** Options that an import follows: the database is not that which all tests share. */
const OF_IMPORT = /--(traces|address-index)\b/

const GENESIS = ['--open', '--genesis', join(FIXTURE_FOLDER, 'genesis.json')]

/** Servers besides those of the bundled fixture with options, by name: how they are started. */
const SERVERS: { readonly [name: string]: (t: After) => Promise<CairnServer> } = {
  partial: async (t) => {
    const upstream = await startUpstream(t, (_method, _params, right) => right())
    const args = ['--state', 'none', '--from', String(PARTIAL_FIRST), '--upstream', upstream.url]
    const server = await startCairn(t, [...GENESIS, '--datadir', temporaryDirectory(t), ...args])
    await untilHealth(server.url, ({ gap, head }) => gap === null && head > 0)
    return server
  },
  filling: async (t) => {
    const upstream = await startUpstream(t, async (method, params, right) => {
      if (method === 'debug_getRawBlock' && Number(params[0]) >= FILLING_STOPS) await new Promise(() => {})
      return right()
    })
    const server = await startCairn(t, [...GENESIS, '--datadir', temporaryDirectory(t), '--upstream', upstream.url])
    await untilHealth(server.url, ({ gap }) => gap !== null)
    return server
  },
  bundle: async (t) => {
    const datadir = temporaryDirectory(t)
    await writeCabinetChain(datadir)
    const bundle = join(temporaryDirectory(t), 'partial_match/1337', CABINET)
    writeBundle(bundle, shortBundle())
    await runCairnOk(['abi', 'add', '--sourcify', bundle, '--datadir', datadir])
    return startCairn(t, ['--datadir', datadir, '--open'])
  },
  forwarding: async (t) => {
    const upstream = await startUpstream(t, (method, params, right) =>
      method === 'eth_sendRawTransaction' ? formatData(keccak256(parseHex((params[0] as string).slice(2)))) : right(),
    )
    const args = ['--datadir', temporaryDirectory(t), '--upstream', upstream.url, '--forward-transactions']
    return startCairn(t, [...GENESIS, ...args])
  },
}

const SHOWN = ['pair', 'balances']
const SHOWN_TYPES = [
  ...['address', 'bool', 'uint64', 'int32', 'uint256'],
  ...['struct Cabinet.Pair', 'mapping(address => uint256)'],
]

/** A bundle of the contract with one line of source and two variables. */
function shortBundle(): BundleFiles {
  const files = cabinetBundle()
  const content = 'contract Cabinet {} // shortened'
  const { storage, types } = JSON.parse(files['storageLayout.json'])
  const shown = storage.filter(({ label }: { label: string }) => SHOWN.includes(label))
  const used = Object.entries<{ label: string }>(types).filter(([, { label }]) => SHOWN_TYPES.includes(label))
  const sources = { 'Cabinet.sol': { keccak256: formatData(keccak256(new TextEncoder().encode(content))), content } }
  return {
    'metadata.json': JSON.stringify({ ...JSON.parse(files['metadata.json']), sources }),
    'storageLayout.json': JSON.stringify({ storage: shown, types: Object.fromEntries(used) }),
  }
}

type Respond = (method: string, params: unknown[], right: () => Promise<unknown>) => unknown

/** A node with the fixture chain that answers with what `respond` returns. */
async function startUpstream(t: After, respond: Respond): Promise<ScriptedUpstream> {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const answers = openChainAnswers(datadir)
  const upstream = await startScriptedUpstream({
    ...answers,
    result: async (method, params) => respond(method, params, () => answers.result(method, params)),
  })
  t.after(async () => {
    await upstream.close()
    answers.close()
  })
  return upstream
}

/** The server that a recorded call names in `on`. */
export function startExampleServer(t: After, on = ''): Promise<CairnServer> {
  const start = SERVERS[on]
  if (start !== undefined) return start(t)
  const options = on.split(' ').filter((word) => word !== '')
  return OF_IMPORT.test(on) ? startCairn(t, ['--fixture', FIXTURE_FOLDER, ...options]) : serveFixture(t, options)
}

interface Coverage {
  head: number
  gap: object | null
}

async function readCoverage(url: string): Promise<Coverage | null> {
  return ((await (await fetch(`${url}/health`)).json()) as { coverage: Coverage | null }).coverage
}

const untilHealth = (url: string, holds: (coverage: Coverage) => boolean) =>
  untilValue(
    () => readCoverage(url),
    (coverage) => coverage !== null && holds(coverage),
  )

/** Makes the calls of `before` and then the call itself. @returns its answer and the results of those before. */
export async function runRecorded(
  server: CairnServer,
  method: string,
  { params, before = [], transport = 'http' }: RecordedCall,
): Promise<{ answer: Answer; results: unknown[] }> {
  const socket = transport === 'websocket' ? await openSocket(server.socketUrl) : undefined
  const ask = (name: string, values: unknown) => {
    const request = { jsonrpc: '2.0', id: 1, method: name, params: values }
    return socket ? socket.send(request) : send(server.url, request)
  }
  try {
    const results: unknown[] = []
    for (const call of before) results.push((await ask(call.method, call.params)).result)
    return { answer: await ask(method, bindResults(params, results)), results }
  } finally {
    await socket?.close()
  }
}

/** Matches the messages that a documented one stands for: `…`, `<words>`, single capital letters and numbers are parts
 *  that differ; more may follow after a colon. */
export function messagePattern(documented: string): RegExp {
  const escaped = documented.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const source = escaped.replace(/…|<[\w ]+>|\b[A-Z]\b|\d+(ms|s)?/g, (part) =>
    /^\d/.test(part) ? '[\\d.]+(ms|s)?' : '.+',
  )
  return new RegExp(`^${source}(: .*)?$`, 's')
}
