import { gzipSync } from 'node:zlib'
import type { WebSocket } from 'ws'
import { type Fault, RpcFailure, type UpstreamCall } from './scriptedUpstream.js'
import { type FaultCase, type Json, ONE_BY_ONE, RAW, UPSTREAM_LIES } from './upstreamLies.js'

const json = { 'content-type': 'application/json' }
const html = { 'content-type': 'text/html' }
const PAGE = '<html><body>down for maintenance</body></html>'

/** Of HTTP responses. */
const HTTP_FAULTS: FaultCase[] = [
  { name: 'stalls before the answer', times: 1, respond: () => {} },
  {
    name: 'stalls in the middle of the answer',
    times: 1,
    respond: (response, text) => void response.writeHead(200, json).write(text.slice(0, 20)),
  },
  { name: 'cuts the connection', times: 2, respond: (response) => response.destroy() },
  {
    name: 'cuts the answer in the middle',
    times: 2,
    respond: (response, text) => {
      response.writeHead(200, { ...json, 'content-length': text.length })
      response.write(text.slice(0, text.length / 2), () => response.destroy())
    },
  },
  { name: 'answers half of the text', times: 2, respond: (r, text) => r.writeHead(200, json).end(text.slice(0, -9)) },
  { name: '429 without Retry-After', times: 3, respond: (response) => response.writeHead(429).end() },
  {
    name: '429 with Retry-After in seconds',
    times: 2,
    respond: (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
  },
  {
    name: '429 with Retry-After as a date',
    times: 2,
    respond: (response) => response.writeHead(429, { 'retry-after': new Date(Date.now() + 1000).toUTCString() }).end(),
  },
  {
    name: '429 with Retry-After of a year',
    times: 1,
    respond: (response) => response.writeHead(429, { 'retry-after': '31536000' }).end(),
  },
  {
    name: '503 with Retry-After',
    times: 2,
    respond: (response) => response.writeHead(503, { 'retry-after': '1' }).end(),
  },
  {
    name: '-32005 for a batch',
    times: 2,
    answers: (_, [{ id }]) => ({ jsonrpc: '2.0', id, error: { code: -32005, message: 'request rate exceeded' } }),
  },
  { name: 'HTML with status 200', times: 2, respond: (response) => response.writeHead(200, html).end(PAGE) },
  { name: 'HTML with status 502', times: 2, respond: (response) => response.writeHead(502, html).end(PAGE) },
  { name: 'HTML called JSON', times: 2, respond: (response) => response.writeHead(200, json).end(PAGE) },
  { name: 'status 500', times: 2, respond: (response) => response.writeHead(500).end() },
  { name: 'status 401', times: 2, respond: (response) => response.writeHead(401).end() },
  {
    name: 'wrong content type',
    times: 2,
    respond: (response, text) => response.writeHead(200, { 'content-type': 'text/plain' }).end(text),
  },
  { name: 'an empty body', times: 2, respond: (response) => response.writeHead(200, json).end() },
  { name: 'JSON that is no answer', times: 2, respond: (response) => response.writeHead(200, json).end('[[1,2],3]') },
  { name: 'JSON null', times: 2, respond: (response) => response.writeHead(200, json).end('null') },
  {
    name: 'an answer larger than the limit, with its length',
    times: 2,
    respond: (response) => response.writeHead(200, { ...json, 'content-length': 2 ** 30 }).write('{'),
  },
  {
    name: 'an answer larger than the limit, in chunks',
    times: 2,
    respond: (response) => response.writeHead(200, json).end(`"${'x'.repeat(3 * 2 ** 20)}"`),
  },
  {
    name: 'a gzip bomb',
    times: 2,
    respond: (response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 2 ** 20, 0x20))),
  },
  {
    name: 'gzip that is none',
    times: 2,
    respond: (response, text) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(text),
  },
  {
    name: 'gzip that is cut',
    times: 2,
    respond: (response, text) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(text).subarray(0, 30)),
  },
  {
    name: 'an unknown content encoding',
    times: 2,
    respond: (response, text) => response.writeHead(200, { ...json, 'content-encoding': 'br' }).end(text),
  },
  {
    name: 'a redirect to elsewhere',
    times: 2,
    respond: (response, _, request) =>
      response.writeHead(307, { location: `http://${request.headers.host}/elsewhere` }).end(),
  },
  { name: 'status 413 for batches', ...onBatches((response) => response.writeHead(413).end()) },
]

/** Spoils batches of more than two calls only. */
function onBatches(respond: NonNullable<Fault['respond']>): Pick<Fault, 'respond'> {
  return {
    respond: (response, text, request) => {
      const answers: unknown = JSON.parse(text)
      if (Array.isArray(answers) && answers.length > 2) respond(response, text, request)
      else response.writeHead(200, json).end(text)
    },
  }
}

const inBatch = (change: (answers: Json[]) => unknown) => (answers: unknown) =>
  Array.isArray(answers) ? change(answers) : answers

/** Of JSON-RPC answers and results. */
const ANSWER_FAULTS: FaultCase[] = [
  { name: 'reordered batches', answers: inBatch((answers) => answers.reverse()) },
  { name: 'an answer of a batch is missing', times: 4, answers: inBatch((answers) => answers.slice(1)) },
  { name: 'two answers of one id', times: 4, answers: inBatch((answers) => [answers[0], ...answers.slice(0, -1)]) },
  { name: 'an answer too many', times: 4, answers: inBatch((answers) => [...answers, answers[0]]) },
  {
    name: 'an id with many digits',
    times: 4,
    answers: (answers) => JSON.stringify(answers).replace(/"id":1\b/, `"id":1${'0'.repeat(4000)}`),
  },
  { name: 'ids as text', times: 4, answers: (answers) => JSON.stringify(answers).replace(/"id":(\d+)/g, '"id":"$1"') },
  {
    name: 'a batch is refused with one error',
    answers: inBatch(() => ({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batches are not allowed' } })),
  },
  { name: 'neither result nor error', times: 3, answers: inBatch((answers) => answers.map(({ id }) => ({ id }))) },
  { name: 'error null beside the result', answers: inBatch((answers) => answers.map((a) => ({ ...a, error: null }))) },
  {
    name: 'an error without a code',
    times: 3,
    answers: inBatch((answers) => answers.map(({ id }) => ({ id, error: 'no' }))),
  },
  { name: 'null for a known block', ...spoilSome(/getRawBlock|getBlockBy/, 6, () => null) },
  { name: 'null for known receipts', ...spoilSome(/Receipts/, 3, () => null) },
  {
    name: 'internal errors',
    ...spoilSome(/getBlockBy/, 5, () => {
      throw new RpcFailure(-32603, 'internal error')
    }),
    lacks: RAW,
  },
  {
    name: 'the error of a response that is too large',
    result: oversizedError(),
  },
  { name: 'no raw blocks and no raw receipts', lacks: RAW },
  { name: 'no receipts by block either', lacks: ONE_BY_ONE },
  {
    name: 'raw methods fail at some blocks',
    result: ({ method, params }, result) => {
      if (method.startsWith('debug_getRaw') && String(params[0]).endsWith('7')) throw new RpcFailure(-32000, 'pruned')
      return result
    },
  },
  {
    name: 'block not found as an error',
    ...spoilSome(/getRawBlock/, 3, () => {
      throw new RpcFailure(-32000, 'block #17 not found')
    }),
  },
]

/** Spoils the first `times` results of these methods that are not about block 0. */
function spoilSome(methods: RegExp, times: number, change: (result: unknown) => unknown): Pick<Fault, 'some'> {
  return { some: { methods, times, change } }
}

/** As geth answers what would be longer than its limit: from the second raw block of a batch on. */
function oversizedError(): NonNullable<Fault['result']> {
  return ({ id, method }: UpstreamCall, result) => {
    if (method === 'debug_getRawBlock' && id > 2) throw new RpcFailure(-32003, 'response too large')
    return result
  }
}

/** Of WebSocket messages. */
const WEBSOCKET_FAULTS: FaultCase[] = [
  { name: 'closes the WebSocket', times: 2, reply: (socket) => socket.close(1011), overWebSocket: true },
  { name: 'cuts the WebSocket', times: 2, reply: (socket) => socket.terminate(), overWebSocket: true },
  { name: 'a message that is no JSON', times: 2, reply: (socket) => socket.send('<html>'), overWebSocket: true },
  { name: 'no answer over the WebSocket', times: 1, reply: () => {}, overWebSocket: true },
  {
    name: 'a message larger than the limit',
    times: 2,
    reply: (socket) => socket.send('x'.repeat(3 * 2 ** 20)),
    overWebSocket: true,
  },
  {
    name: 'an id that was not asked',
    times: 2,
    reply: (s) => s.send('{"id":99999999,"result":1}'),
    overWebSocket: true,
  },
  { name: 'a notification without params', times: 2, reply: (s) => s.send(NOTIFICATION), overWebSocket: true },
  { name: 'every answer twice', reply: sendTwice, overWebSocket: true },
  { name: 'reordered batches over the WebSocket', answers: inBatch((a) => a.reverse()), overWebSocket: true },
]

const NOTIFICATION = '{"jsonrpc":"2.0","method":"eth_subscription"}'

/** Every fault that a source must get over: after it ends, or with another upstream, the right chain comes out. */
export const UPSTREAM_FAULTS: readonly FaultCase[] = [
  ...UPSTREAM_LIES,
  ...HTTP_FAULTS,
  ...ANSWER_FAULTS,
  ...WEBSOCKET_FAULTS,
]

function sendTwice(socket: WebSocket, text: string): void {
  socket.send(text)
  socket.send(text)
}
