import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'

/** A JSON-RPC request as it came. */
export interface UpstreamCall {
  id: number
  method: string
  params: unknown[]
}

/** What a scripted upstream does wrong. */
export interface Fault {
  name: string
  /** Methods that it answers with -32601. */
  lacks?: readonly string[]
  /** Another result for a call, or a promise of it; it may throw an `RpcFailure`. */
  result?(call: UpstreamCall, result: unknown): unknown
  /** The same for the first `times` results of some methods that are not about block 0. */
  some?: { methods: RegExp; times: number; change(result: unknown): unknown }
  /** Another answer to a whole request: an object, or an array for a batch. */
  answers?(answers: unknown, calls: readonly UpstreamCall[]): unknown
  /** Sends the HTTP response in place of the right one. */
  respond?(response: ServerResponse, text: string, request: IncomingMessage): void
  /** Sends the WebSocket message in place of the right one. */
  reply?(socket: WebSocket, text: string): void
  /** How many requests `answers`, `respond` and `reply` spoil, after the first `after`; all by default. */
  times?: number
  after?: number
}

/** Thrown by a fault: the call is answered with this error. */
export class RpcFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** A node of the tests: answers from a database over HTTP and WebSocket, and does wrong what its fault says. */
export interface ScriptedUpstream {
  readonly url: string
  readonly wsUrl: string
  fault: Fault | undefined
  /** Its newest block: what is above does not exist yet. */
  head: number
  /** Methods of each request that came. */
  readonly requests: string[][]
  /** Headers of the last HTTP request. */
  lastHeaders: IncomingMessage['headers']
  readonly subscribers: number
  /** Sets the head, and notifies subscribers. */
  announce(blockNumber: number): Promise<void>
  /** Closes all WebSocket connections. */
  cutSockets(): void
  close(): Promise<void>
}

/** What a node answers that has the chain of a database: our own methods, each answer made once. */
export interface ChainAnswers {
  readonly head: number
  /** @throws RpcFailure */
  result(method: string, params: unknown[]): Promise<unknown>
  close(): void
}

/** The answers of the database in `datadir`. */
export function openChainAnswers(datadir: string): ChainAnswers {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const texts = new Map<string, string>()
  return {
    head: context.chain.head()!,
    close,
    result: async (method, params) => {
      const known = METHODS.get(method)
      if (!known) throw new RpcFailure(-32601, missing(method))
      const key = JSON.stringify([method, params])
      const held = texts.get(key)
      if (held !== undefined) return JSON.parse(held)
      const outcome = await runMethod(known, params, context)
      if ('error' in outcome) throw new RpcFailure(outcome.error.code, outcome.error.message)
      const text = Buffer.from(outcome.result).toString('utf8')
      texts.set(key, text)
      return JSON.parse(text)
    },
  }
}

const missing = (method: string) => `the method ${method} does not exist/is not available`

/** A scripted upstream with these answers, on a free port. */
export async function startScriptedUpstream(chain: ChainAnswers, fault?: Fault): Promise<ScriptedUpstream> {
  const subscriptions = new Map<WebSocket, string>()
  let spoiled = 0
  let changed = 0

  const run = async (method: string, params: unknown[]): Promise<unknown> => {
    if (upstream.fault?.lacks?.includes(method)) throw new RpcFailure(-32601, missing(method))
    const bound = bindHead(params, upstream.head)
    return bound === undefined ? null : chain.result(method, bound)
  }
  const spoil = (call: UpstreamCall, right: unknown): unknown => {
    const { result, some } = upstream.fault ?? {}
    if (some?.methods.test(call.method) && call.params[0] !== '0x0' && changed < some.times) {
      changed++
      return some.change(right)
    }
    return result ? result(call, right) : right
  }
  const answer = async (call: UpstreamCall, socket: WebSocket | undefined): Promise<object> => {
    const { id, method } = call
    try {
      const right = method === 'eth_subscribe' && socket ? subscribe(socket, method) : await run(method, call.params)
      const result = await spoil(call, right)
      return { jsonrpc: '2.0', id, result }
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
    }
  }
  const subscribe = (socket: WebSocket, method: string): string => {
    if (upstream.fault?.lacks?.includes(method)) throw new RpcFailure(-32601, missing(method))
    subscriptions.set(socket, '0x5ca1')
    return '0x5ca1'
  }
  const handle = async (text: string, socket?: WebSocket): Promise<{ text: string; isSpoiled: boolean }> => {
    const parsed: UpstreamCall | UpstreamCall[] = JSON.parse(text)
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    upstream.requests.push(calls.map(({ method }) => method))
    const answers: object[] = []
    for (const call of calls) answers.push(await answer(call, socket))
    const { fault } = upstream
    const at = upstream.requests.length - 1 - (fault?.after ?? 0)
    const isSpoiled = fault !== undefined && at >= 0 && spoiled < (fault.times ?? Number.POSITIVE_INFINITY)
    if (isSpoiled) spoiled++
    const right: unknown = Array.isArray(parsed) ? answers : answers[0]
    const sent = isSpoiled && fault.answers ? fault.answers(right, calls) : right
    return { text: typeof sent === 'string' ? sent : JSON.stringify(sent), isSpoiled }
  }

  const server: Server = createServer(async (request, response) => {
    upstream.lastHeaders = request.headers
    const { text, isSpoiled } = await handle(await readBody(request))
    if (isSpoiled && upstream.fault?.respond) return upstream.fault.respond(response, text, request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    socket.on('close', () => subscriptions.delete(socket))
    socket.on('error', () => {})
    socket.on('message', async (data) => {
      const { text, isSpoiled } = await handle(String(data), socket)
      if (isSpoiled && upstream.fault?.reply) upstream.fault.reply(socket, text)
      else socket.send(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    fault,
    head: chain.head,
    requests: [],
    lastHeaders: {},
    get subscribers() {
      return subscriptions.size
    },
    announce: async (blockNumber) => {
      upstream.head = blockNumber
      const right = await run('eth_getBlockByNumber', [quantity(blockNumber), false])
      const result = spoil({ id: 0, method: 'newHeads', params: [] }, right)
      for (const [socket, subscription] of subscriptions) {
        socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, result } }))
      }
    },
    cutSockets: () => {
      for (const socket of sockets.clients) socket.terminate()
    },
    close: async () => {
      upstream.cutSockets()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

/** The parameters with the head in place of tags; undefined for a block above it. */
function bindHead(params: unknown[], head: number): unknown[] | undefined {
  const [first, ...rest] = params
  if (first === 'latest' || first === 'safe' || first === 'finalized') return [quantity(head), ...rest]
  if (typeof first === 'string' && /^0x[0-9a-f]{1,8}$/.test(first) && Number(first) > head) return undefined
  return params
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
