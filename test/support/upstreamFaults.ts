import { gzipSync } from 'node:zlib'
import type { WebSocket } from 'ws'
import { decodeBlock, encodeBlock } from '../../src/chain/eth/block.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { type Fault, RpcFailure, type UpstreamCall } from './scriptedUpstream.js'

/** A fault and what the source makes of it. */
export interface FaultCase extends Fault {
  /** The check that names the lie; undefined for a fault that is no lie. */
  check?: RegExp
  /** Spoils WebSocket messages, not HTTP responses. */
  overWebSocket?: boolean
}

type Json = Record<string, unknown>

const RAW = ['debug_getRawBlock', 'debug_getRawReceipts']
const ONE_BY_ONE = [...RAW, 'eth_getBlockReceipts']

/** Another value of the same form: the last digit of hex text is changed. */
function bump(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, -1) + (value.endsWith('1') ? '2' : '1')
  if (Array.isArray(value)) return value.length === 0 ? [`0x${'11'.repeat(32)}`] : value.map(bump)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bump(each)]))
  }
  return '0x1'
}

/** A lie about blocks with whole transactions. Block 0, by which the chain is recognised, stays right. */
function blockLie(name: string, check: RegExp, change: (block: Json) => void): FaultCase {
  return {
    name,
    check,
    lacks: RAW,
    result: ({ method, params }, result) => {
      if (!method.startsWith('eth_getBlockBy') || params[1] !== true || !result) return result
      if ((result as Json).number !== '0x0') change(result as Json)
      return result
    },
  }
}

/** A lie about the first transaction of a type in each block. */
function transactionLie(field: string, type: string | undefined, check: RegExp, change = bump): FaultCase {
  return blockLie(`another transaction ${field}${type ? ` (type ${type})` : ''}`, check, ({ transactions }) => {
    const found = (transactions as Json[]).find((each) => type === undefined || each.type === type)
    if (found) found[field] = change(found[field])
  })
}

function receiptLie(
  name: string,
  check: RegExp,
  change: (receipts: Json[]) => unknown,
  lacks: readonly string[] = RAW,
): FaultCase {
  return {
    name,
    check,
    lacks,
    result: ({ method }, result) => {
      if (method === 'eth_getBlockReceipts' && Array.isArray(result)) return change(result) ?? result
      if (method === 'eth_getTransactionReceipt' && result) change([result as Json])
      return result
    },
  }
}

function logLie(name: string, change: (logs: Json[]) => void): FaultCase {
  return receiptLie(name, /^receipts root$/, (receipts) => {
    for (const { logs } of receipts) change(logs as Json[])
  })
}

const HEADER_FIELDS = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'number',
  'hash',
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
]

const HEADER_LIES = HEADER_FIELDS.map((field) =>
  blockLie(`another ${field}`, /^block\.(hash|extraData)$/, (block) => {
    if (block[field] !== undefined) block[field] = bump(block[field])
  }),
)

const TRANSACTION_LIES = [
  ...['nonce', 'gas', 'gasPrice', 'value', 'r', 's'].map((field) =>
    transactionLie(field, '0x0', /^transactions\[\d+\]\.(hash|r|s|signature)$/),
  ),
  transactionLie('to', '0x2', /^transactions\[\d+\]\.hash$/, () => `0x${'77'.repeat(20)}`),
  transactionLie('input', '0x2', /^transactions\[\d+\]\.(hash|input)$/, () => '0x1234'),
  transactionLie('chainId', '0x1', /^transactions\[\d+\]\.hash$/),
  transactionLie('accessList', '0x1', /^transactions\[\d+\]\.hash$/, () => [
    { address: `0x${'77'.repeat(20)}`, storageKeys: [] },
  ]),
  transactionLie('maxFeePerGas', '0x2', /^transactions\[\d+\]\.hash$/),
  transactionLie('maxPriorityFeePerGas', '0x2', /^transactions\[\d+\]\.hash$/),
  transactionLie('yParity', '0x2', /^transactions\[\d+\]\.hash$/, (parity) => (parity === '0x0' ? '0x1' : '0x0')),
  transactionLie('maxFeePerBlobGas', '0x3', /^transactions\[\d+\]\.hash$/),
  transactionLie('blobVersionedHashes', '0x3', /^transactions\[\d+\]\.hash$/),
  transactionLie('authorizationList', '0x4', /^transactions\[\d+\]\.hash$/),
  transactionLie('hash', undefined, /^transactions\[0\]\.hash$/),
  transactionLie('from', undefined, /^transactions\[0\]\.from$/),
  transactionLie('blockHash', undefined, /^transactions\[0\]\.blockHash$/),
  transactionLie('transactionIndex', undefined, /^transactions\[0\]\.transactionIndex$/),
  transactionLie('type', undefined, /^transactions\[0\]\./, () => '0x7e'),
  blockLie('a transaction is missing', /^transactions root$/, ({ transactions }) => (transactions as Json[]).pop()),
  blockLie('transactions in another order', /^transactions(\[0\]\.transactionIndex| root)$/, ({ transactions }) =>
    (transactions as Json[]).reverse(),
  ),
  blockLie('withdrawals are missing', /^withdrawals root$/, (block) => {
    delete block.withdrawals
  }),
  blockLie('another withdrawal amount', /^withdrawals root$/, ({ withdrawals = [] }) => {
    for (const each of withdrawals as Json[]) each.amount = bump(each.amount)
  }),
  blockLie('uncles are missing', /^uncles hash$/, (block) => {
    block.uncles = []
  }),
  blockLie('a quantity is no text', /^block\.gasLimit$/, (block) => {
    block.gasLimit = 5000
  }),
  blockLie('a header field is missing', /^block\.stateRoot$/, (block) => {
    delete block.stateRoot
  }),
]

const RECEIPT_LIES = [
  receiptLie('another status', /^receipts root$/, (receipts) => {
    for (const each of receipts) if (each.status) each.status = each.status === '0x1' ? '0x0' : '0x1'
  }),
  receiptLie('another root in receipts', /^receipts root$/, (receipts) => {
    for (const each of receipts) if (each.root) each.root = bump(each.root)
  }),
  receiptLie('another cumulative gas', /^(gas used|receipts root)$/, (receipts) => {
    receipts[0].cumulativeGasUsed = bump(receipts[0].cumulativeGasUsed)
  }),
  receiptLie('another bloom in receipts', /^logs bloom$/, (receipts) => {
    receipts[0].logsBloom = bump(receipts[0].logsBloom)
  }),
  receiptLie('another receipt type', /^receipts root$/, (receipts) => {
    receipts[0].type = receipts[0].type === '0x0' ? '0x2' : '0x0'
  }),
  receiptLie('receipts of another transaction', /^receipts\[0\]\.transactionHash$/, (receipts) => {
    receipts[0].transactionHash = bump(receipts[0].transactionHash)
  }),
  receiptLie('receipts of another block', /^receipts\[0\]\.blockHash$/, (receipts) => {
    receipts[0].blockHash = bump(receipts[0].blockHash)
  }),
  receiptLie('a receipt is missing', /^receipts$/, (receipts) => receipts.slice(1)),
  receiptLie('a receipt comes twice', /^receipts$/, (receipts) => [...receipts, receipts[0]]),
  receiptLie('receipts in another order', /^receipts\[0\]\.transactionHash$/, (receipts) => receipts.reverse()),
  receiptLie(
    'another status, receipts asked one by one',
    /^receipts root$/,
    (receipts) => {
      for (const each of receipts) if (each.status) each.status = each.status === '0x1' ? '0x0' : '0x1'
    },
    ONE_BY_ONE,
  ),
  logLie('another log address', ([log]) => {
    if (log) log.address = bump(log.address)
  }),
  logLie('another topic', ([log]) => {
    if (log) log.topics = bump(log.topics)
  }),
  logLie('another log data', ([log]) => {
    if (log) log.data = `${log.data}00`
  }),
  logLie('a log is missing', (logs) => logs.pop()),
  logLie('a log comes twice', (logs) => void (logs.length > 0 && logs.push(logs[0]))),
  logLie('logs in another order', (logs) => logs.length > 1 && logs.reverse()),
]

/** Of raw blocks and receipts. */
const RAW_LIES: FaultCase[] = [
  rawBlockLie('a raw block without its last byte', /^block$/, (hex) => hex.slice(0, -2)),
  rawBlockLie('a raw block that is no hex', /^block$/, () => 'nonsense'),
  rawBlockLie('a raw block whose body belongs to no header', /root$|hash$/, (hex) => {
    const block = decodeBlock(parseHex(hex))
    block.transactions.reverse().pop()
    return formatData(encodeBlock({ ...block, uncles: [] }))
  }),
  {
    name: 'a raw block of another number',
    check: /^block number$/,
    result: ({ method, params }, result) =>
      method === 'debug_getRawBlock' && params[0] !== '0x1' ? anyBlock(result as string) : result,
  },
  {
    name: 'a raw receipt is missing',
    check: /^receipts$/,
    result: ({ method }, result) => (method === 'debug_getRawReceipts' ? (result as unknown[]).slice(1) : result),
  },
  {
    name: 'raw receipts that are garbage',
    check: /^receipts\[0\]/,
    result: ({ method }, result) =>
      method === 'debug_getRawReceipts' ? (result as unknown[]).map(() => '0x01') : result,
  },
]

function rawBlockLie(name: string, check: RegExp, change: (hex: string) => string): FaultCase {
  return {
    name,
    check,
    result: ({ method }, result) => (method === 'debug_getRawBlock' && result ? change(result as string) : result),
  }
}

/** Block 1 with the number of its header raised: a block, but not the one that was asked for. */
function anyBlock(hex: string): string {
  const block = decodeBlock(parseHex(hex))
  block.header.number += 100
  return formatData(encodeBlock(block))
}

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
  ...HEADER_LIES,
  ...TRANSACTION_LIES,
  ...RECEIPT_LIES,
  ...RAW_LIES,
  ...HTTP_FAULTS,
  ...ANSWER_FAULTS,
  ...WEBSOCKET_FAULTS,
]

function sendTwice(socket: WebSocket, text: string): void {
  socket.send(text)
  socket.send(text)
}
