import { type TestContext, test } from 'node:test'
import type { ServingOptions } from '../../src/cli/serving/options.js'
import { type Serving, startServing } from '../../src/cli/serving.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { DEFAULT_SUBSCRIPTION_LIMITS } from '../../src/rpc/subscriptions/limits.js'
import { DEFAULT_SERVER_LIMITS } from '../../src/server/admission/limits.js'
import { DEFAULT_STREAM_LIMITS } from '../../src/server/stream/streamLimits.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { temporaryDirectory } from './temporary.js'

/** Where the tests' method table is. */
export const TEST_METHODS = new URL('./testMethods.js', import.meta.url).href

/** Options of a small open server over the database of `datadir`, on a free port. */
export function servingOptions(datadir: string): ServingOptions {
  return {
    datadir,
    host: '127.0.0.1',
    port: 0,
    open: true,
    cors: '*',
    hosts: [],
    compression: { mode: 'auto', aboveBytes: 65_536 },
    responseCacheBytes: 0,
    inlineCalls: true,
    pageReads: true,
    rateLimitRps: 0,
    usageDays: 0,
    plainHttp: true,
    acceptThreads: 0,
    page: false,
    metrics: { onRpcPort: false, ownPort: undefined },
    serverLimits: DEFAULT_SERVER_LIMITS,
    subscriptionLimits: DEFAULT_SUBSCRIPTION_LIMITS,
    scanThreads: 1,
    evmThreads: 1,
    evm: 'cairn',
    compatibility: 'specification',
    limits: DEFAULT_LIMITS,
    logging: { level: 'silent' },
    stream: DEFAULT_STREAM_LIMITS,
  }
}

/** A server with the tests' methods over an empty database of its own, on a free port; stopped when the test ends. */
export async function startTestServer(
  t: { after(callback: () => void | Promise<void>): void },
  options: Partial<ServingOptions> = {},
): Promise<Serving & { datadir: string }> {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const serving = await startServing({ ...servingOptions(datadir), methodsModule: TEST_METHODS, ...options })
  t.after(() => serving.close())
  return { ...serving, datadir }
}

/** The status and the parsed body of a POST. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
): Promise<{ status: number; headers: Headers; text: string; json: Answer & Answer[] }> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, { method: 'POST', body: payload, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: text === '' ? undefined : JSON.parse(text) }
}

/** A JSON-RPC answer. */
export interface Answer {
  jsonrpc: string
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** A request with id 1. */
export function request(method: string, ...params: unknown[]): object {
  return { jsonrpc: '2.0', id: 1, method, params }
}

type Start = typeof startTestServer

const startWithPlainHttp: Start = (t, options) => startTestServer(t, { plainHttp: true, ...options })
const startWithoutPlainHttp: Start = (t, options) => startTestServer(t, { plainHttp: false, ...options })

/** Returns what starts one server of a file for each reader, without options of its own, for tests that change nothing
 *  of it; stopped with `ending`. */
export function shareServers(ending: Parameters<Start>[0]): (start: Start) => ReturnType<Start> {
  const servers = new Map<Start, ReturnType<Start>>()
  return (start) => {
    const server = servers.get(start) ?? start(ending)
    servers.set(start, server)
    return server
  }
}

/** A test that runs with plain POSTs read straight from the socket, and by `npm run test:all` once more with all
 *  requests read by Node's parser. `start` is `startTestServer` with the one or the other. */
export function testBothReaders(name: string, run: (t: TestContext, start: Start) => void | Promise<void>): void {
  test(`${name} (plain requests read from the socket)`, (t) => run(t, startWithPlainHttp))
  if (process.env.CAIRN_TEST_ALL) test(`${name} (all requests read by Node)`, (t) => run(t, startWithoutPlainHttp))
}
