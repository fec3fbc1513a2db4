import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Metrics } from '../../lib/metrics.js'
import type { Dispatcher } from '../../rpc/core/dispatch.js'
import { type InvalidCall, isCall, parseBody, type RpcCall, type RpcOutcome } from '../../rpc/core/envelope.js'
import { encodeResponse } from '../../rpc/core/responseBytes.js'
import type { EngineReply } from '../../sync/engine/openEngine.js'
import { ENGINE_ERROR_CODES } from './codes.js'
import { checkToken } from './jwt.js'

/** What the listener of the Engine API works with. */
export interface EngineServerOptions {
  /** 32 bytes. */
  readonly secret: Uint8Array
  /** Answers a method of the Engine API. Never rejects. */
  engine(method: string, params: unknown): Promise<EngineReply>
  /** Runs the `eth_` methods. */
  readonly dispatcher: Dispatcher
  readonly metrics: Metrics
}

/** Limits of the listener: one consensus client, with what it needs twice over. */
const LIMITS = {
  connections: 32,
  /** A payload has at most 8 MiB of RLP (EIP-7934), twice that as hex, and an access list. */
  bodyBytes: 48 * 1024 * 1024,
  /** Bodies that are received at the same time. */
  receivingBytes: 96 * 1024 * 1024,
  batchCalls: 64,
  headersMs: 10_000,
  requestMs: 30_000,
} as const

/** The `eth_` methods that the specification wants on this port (Engine API, common definitions). */
const ETH_METHODS: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_getCode',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getLogs',
  'eth_sendRawTransaction',
  'eth_syncing',
])

/** Creates the listener of the Engine API, not listening yet: JSON-RPC over POST, with a token in each request, and
 *  without CORS, so that no web page can read an answer. */
export function createEngineServer(options: EngineServerOptions): Server {
  const { headersMs: headersTimeout, requestMs: requestTimeout, connections } = LIMITS
  const calls = countCalls(options.metrics)
  const parts = { ...options, count: calls, receiving: { bytes: 0 } }
  const server = createServer({ headersTimeout, requestTimeout }, (request, response) => {
    void serve(request, response, parts).catch(() => response.destroy())
  })
  server.maxConnections = connections
  return server
}

type Parts = EngineServerOptions & { count(outcome: Outcome): void; receiving: { bytes: number } }
type Outcome = 'answered' | 'error' | 'unauthorized' | 'refused'

function countCalls(metrics: Metrics): (outcome: Outcome) => void {
  const counts: { [outcome in Outcome]: number } = { answered: 0, error: 0, unauthorized: 0, refused: 0 }
  metrics.counter('cairn_engine_calls_total', 'Requests to the port of the Engine API, by outcome.', () =>
    Object.entries(counts).map(([outcome, count]): [{ outcome: string }, number] => [{ outcome }, count]),
  )
  return (outcome) => {
    counts[outcome]++
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const refuse = (status: number, problem: string, outcome: Outcome = 'refused') => {
    parts.count(outcome)
    // The rest of a body that is not read would be taken for the next request.
    response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(`${problem}\n`)
  }
  if (request.method !== 'POST') return refuse(405, 'only POST is served')
  const nowSeconds = Date.now() / 1000
  const problem = checkToken(request.headers.authorization, { secret: parts.secret, nowSeconds })
  if (problem !== undefined) return refuse(401, problem, 'unauthorized')
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > LIMITS.bodyBytes) return refuse(413, `the body has more than ${LIMITS.bodyBytes} bytes`)
  const text = await readBody(request, parts.receiving)
  if (text === undefined)
    return refuse(413, `the body has more than ${LIMITS.bodyBytes} bytes, or bodies fill the memory`)
  const body = parseBody(text)
  if (body.kind === 'batch' && body.items.length > LIMITS.batchCalls) {
    return refuse(413, `expected at most ${LIMITS.batchCalls} calls in a batch`)
  }
  const items = body.kind === 'batch' ? body.items : [body.item]
  const answers: string[] = []
  for (const item of items) {
    const answer = await answerItem(item, parts)
    if (answer !== undefined) answers.push(answer)
  }
  const json = body.kind === 'batch' ? `[${answers.join(',')}]` : (answers[0] ?? '')
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(json)
}

/** Returns the body; undefined when it exceeds the limits. */
async function readBody(request: IncomingMessage, receiving: { bytes: number }): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      receiving.bytes += chunk.length
      if (length > LIMITS.bodyBytes || receiving.bytes > LIMITS.receivingBytes) return undefined
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    receiving.bytes -= length
  }
}

/** Returns the response as JSON; undefined for a notification. */
async function answerItem(item: RpcCall | InvalidCall, parts: Parts): Promise<string | undefined> {
  if (!isCall(item)) {
    parts.count('error')
    return formatResponse(item.idText, item)
  }
  const { idText, method } = item
  const outcome = method.startsWith('eth_') ? await callEth(item, parts) : await callEngine(item, parts)
  parts.count('error' in outcome ? 'error' : 'answered')
  return idText === undefined ? undefined : formatResponse(idText, outcome)
}

async function callEngine({ method, params }: RpcCall, { engine }: Parts): Promise<RpcOutcome> {
  const reply = await engine(method, params)
  if (!reply.refused) return { result: Buffer.from(JSON.stringify(reply.result)) }
  const { reason, message } = reply.refused
  const { code, title } = ENGINE_ERROR_CODES[reason]
  return { error: { code, message: title === undefined ? message : `${title}: ${message}` } }
}

/** Returns the outcome with the whole result. */
async function callEth(call: RpcCall, { dispatcher }: Parts): Promise<RpcOutcome> {
  if (!ETH_METHODS.has(call.method)) {
    const { code } = ENGINE_ERROR_CODES['unknown method']
    return { error: { code, message: `the method ${call.method} is not served on this port` } }
  }
  const outcome = await dispatcher.dispatch(call)
  if ('error' in outcome) return outcome
  const chunks = [outcome.result]
  for (let rest = await outcome.rest?.next(); rest; rest = await outcome.rest!.next()) chunks.push(rest)
  return { result: Buffer.concat(chunks) }
}

function formatResponse(idText: string, outcome: RpcOutcome): string {
  return Buffer.concat(encodeResponse(idText, outcome)).toString('utf8')
}
