import { decodeBlock, encodeBlock } from '../../../src/chain/eth/block.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { Fault } from './scriptedUpstream.js'

/** A fault and what the source makes of it. */
export interface FaultCase extends Fault {
  /** The check that names the invalid response; undefined for a fault of another kind. */
  check?: RegExp
  /** Spoils WebSocket messages, not HTTP responses. */
  overWebSocket?: boolean
}

/** An object of JSON. */
export type Json = Record<string, unknown>

/** Without these an upstream is asked for JSON. */
export const RAW = ['debug_getRawBlock', 'debug_getRawReceipts']
/** Without these it is asked for receipts one by one. */
export const ONE_BY_ONE = [...RAW, 'eth_getBlockReceipts']

/** Another value of the same form: the last digit of hex text is changed. */
function bump(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, -1) + (value.endsWith('1') ? '2' : '1')
  if (Array.isArray(value)) return value.length === 0 ? [`0x${'11'.repeat(32)}`] : value.map(bump)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bump(each)]))
  }
  return '0x1'
}

/** Invalid responses about blocks with whole transactions. Block 0, by which the chain is recognised, stays right. */
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

/** Invalid responses about the first transaction of a type in each block. */
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
  'blockAccessListHash',
  'slotNumber',
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

/** Invalid responses about every field of headers, transactions, receipts and logs. */
export const UPSTREAM_LIES: readonly FaultCase[] = [...HEADER_LIES, ...TRANSACTION_LIES, ...RECEIPT_LIES, ...RAW_LIES]
