import { gzipSync } from 'node:zlib'
import type { L2Fault } from './l2Node.js'
import { RpcFailure } from './scriptedUpstream.js'

type Json = Record<string, unknown>

/** Ways to a node that find invalid responses by different checks. */
export type L2CheckRoute = 'RPC 0.9' | 'RPC 0.10' | 'feeder'

/** A fault of a node, and the check that the log names it by; undefined for failures without invalid responses. */
export interface L2FaultCase extends L2Fault {
  readonly check?: string | Readonly<Record<L2CheckRoute, string>>
}

const BLOCK = /^(starknet_getBlockWithReceipts|get_block)$/
const HEAD = /^(starknet_blockHashAndNumber|get_block)$/

/** Changes blocks, also those beside a state update of the feeder gateway; those that only have the head are left
 *  alone. */
function onBlocks(change: (block: Json) => unknown): Pick<L2Fault, 'result'> {
  return {
    result: (method, result) => {
      const json = structuredClone(result) as Json
      if (method === 'get_state_update') return { ...json, block: change(json.block as Json) }
      return BLOCK.test(method) && Array.isArray(json.transactions) ? change(json) : result
    },
  }
}

/** Sets the member that the RPC or the feeder gateway calls so. */
const set = (names: readonly string[], value: unknown) =>
  onBlocks((block) => {
    for (const name of names) if (name in block) block[name] = value
    return block
  })

/** Changes the first transaction with its receipt: in one object by RPC, in two lists by the feeder gateway. */
const onFirst = (change: (transaction: Json, receipt: Json) => void) =>
  onBlocks((block) => {
    const [first] = block.transactions as Json[]
    if (first === undefined) return block
    const [receipt] = (block.transaction_receipts ?? []) as Json[]
    if (first.transaction) change(first.transaction as Json, first.receipt as Json)
    else change(first, receipt)
    return block
  })

/** Since 0.10 blocks come with their commitments, which name the part that is wrong; before, only the whole hash
 *  does. */
const inPart = (check: string) => ({ 'RPC 0.9': 'block hash', 'RPC 0.10': check, feeder: 'block hash' })

const PRICE = { price_in_wei: '0x7', price_in_fri: '0x7' }

/** Invalid members of blocks: each is reported by its check. */
export const L2_LIES: readonly L2FaultCase[] = [
  // The state update beside it has another one.
  {
    name: 'another block hash',
    ...set(['block_hash'], '0x123'),
    check: { 'RPC 0.9': 'block hash', 'RPC 0.10': 'block hash', feeder: 'format' },
  },
  { name: 'another parent', ...set(['parent_hash', 'parent_block_hash'], '0x123'), check: 'block hash' },
  { name: 'another number', ...set(['block_number'], 77), check: 'block number' },
  // So has the state update.
  { name: 'another state root', ...set(['new_root', 'state_root'], '0x123'), check: 'format' },
  { name: 'another timestamp', ...set(['timestamp'], 1), check: 'block hash' },
  { name: 'another sequencer', ...set(['sequencer_address'], '0x123'), check: 'block hash' },
  { name: 'another version', ...set(['starknet_version'], '0.14.7'), check: 'block hash' },
  { name: 'an older version', ...set(['starknet_version'], '0.12.0'), check: inPart('transaction commitment') },
  { name: 'no version', ...set(['starknet_version'], 'soon'), check: 'block hash' },
  { name: 'another L1 gas price', ...set(['l1_gas_price'], PRICE), check: 'block hash' },
  { name: 'another L1 data gas price', ...set(['l1_data_gas_price'], PRICE), check: 'block hash' },
  { name: 'another L2 gas price', ...set(['l2_gas_price'], PRICE), check: 'block hash' },
  { name: 'another data mode', ...set(['l1_da_mode'], 'CALLDATA'), check: 'block hash' },
  { name: 'a data mode that there is not', ...set(['l1_da_mode'], 'ROCKET'), check: 'format' },
  { name: 'a status that there is not', ...set(['status'], 'DONE'), check: 'format' },
  { name: 'a negative timestamp', ...set(['timestamp'], -5), check: 'format' },
  { name: 'a root beyond the field', ...set(['new_root', 'state_root'], `0x${'f'.repeat(64)}`), check: 'format' },
  { name: 'no state root', ...set(['new_root', 'state_root'], null), check: 'format' },
  { name: 'transactions that are no list', ...set(['transactions'], 7), check: 'format' },
  {
    name: 'transactions as hashes only',
    ...onBlocks((block) => ({ ...block, transactions: ['0x1'], transaction_receipts: null })),
    check: { 'RPC 0.9': 'transactions with signatures', 'RPC 0.10': 'transactions with signatures', feeder: 'format' },
  },
  {
    name: 'a transaction less',
    ...onBlocks((block) => ({ ...block, transactions: (block.transactions as unknown[]).slice(1) })),
    check: { 'RPC 0.9': 'block hash', 'RPC 0.10': 'transaction count', feeder: 'receipt count' },
  },
  {
    name: 'transactions in another order',
    ...onBlocks((block) => ({
      ...block,
      transactions: (block.transactions as unknown[]).toReversed(),
      transaction_receipts: (block.transaction_receipts as unknown[] | undefined)?.toReversed(),
    })),
    check: inPart('transaction commitment'),
  },
  {
    name: 'no transactions',
    ...onBlocks((block) => ({
      ...block,
      transactions: [],
      ...('transaction_receipts' in block && { transaction_receipts: [] }),
    })),
    check: inPart('transaction count'),
  },
  {
    name: 'another transaction hash',
    ...onFirst((transaction, receipt) => {
      if ('transaction_hash' in transaction) transaction.transaction_hash = '0x99'
      receipt.transaction_hash = '0x99'
    }),
    check: inPart('transaction commitment'),
  },
  {
    name: 'another signature',
    ...onFirst((transaction) => {
      transaction.signature = ['0x1']
    }),
    check: inPart('transaction commitment'),
  },
  {
    name: 'no signature',
    ...onFirst((transaction) => {
      delete transaction.signature
    }),
    check: {
      'RPC 0.9': 'transactions with signatures',
      'RPC 0.10': 'transactions with signatures',
      feeder: 'block hash',
    },
  },
  {
    name: 'another event',
    ...onFirst((_, receipt) => onEvent(receipt, 'data', ['0x1', '0x2'])),
    check: inPart('event commitment'),
  },
  {
    name: 'another event key',
    ...onFirst((_, receipt) => onEvent(receipt, 'keys', [])),
    check: inPart('event commitment'),
  },
  {
    name: 'no events',
    ...onFirst((_, receipt) => {
      receipt.events = []
    }),
    check: inPart('event count'),
  },
  {
    name: 'another fee',
    ...onFirst((_, receipt) => {
      receipt.actual_fee = typeof receipt.actual_fee === 'string' ? '0x1' : { amount: '0x1', unit: 'FRI' }
    }),
    check: inPart('receipt commitment'),
  },
  {
    name: 'another outcome',
    ...onFirst((_, receipt) => {
      receipt.execution_status = 'REVERTED'
    }),
    check: inPart('receipt commitment'),
  },
  {
    name: 'another message',
    ...onFirst((_, receipt) => {
      for (const name of ['messages_sent', 'l2_to_l1_messages']) if (name in receipt) receipt[name] = []
    }),
    check: inPart('receipt commitment'),
  },
  {
    name: 'no gas',
    ...onFirst((_, receipt) => {
      delete receipt.execution_resources
    }),
    check: 'receipts',
  },
  {
    name: 'another state diff',
    result: (method, result) => {
      if (BLOCK.test(method) && (result as Json).state_diff_commitment) {
        return { ...(result as Json), state_diff_commitment: '0x5' }
      }
      if (!/StateUpdate|state_update/.test(method)) return result
      const update = structuredClone(result) as { state_diff?: Json; state_update?: { state_diff: Json } }
      const diff = update.state_diff ?? update.state_update!.state_diff
      diff.deployed_contracts = []
      return update
    },
    check: inPart('state diff length'),
  },
  {
    name: 'a head that is no block',
    result: (method, result) => (HEAD.test(method) ? { ...(result as Json), block_hash: 'none' } : result),
    check: 'format',
  },
  { name: 'a block that is text', ...onBlocks(() => 'block'), check: 'format' },
  { name: 'a block that is a list', ...onBlocks(() => [1]), check: 'format' },
]

function onEvent(receipt: Json, name: string, value: unknown): void {
  const [event] = receipt.events as Json[]
  if (event) event[name] = value
}

const json = { 'content-type': 'application/json' }

/** Failures without invalid responses. */
export const L2_FAILURES: readonly L2FaultCase[] = [
  { name: 'stalls', times: 1, respond: (response) => void response.writeHead(200, json).write('{') },
  { name: 'cuts the connection', times: 2, respond: (response) => response.destroy() },
  {
    name: 'cuts the answer in the middle',
    times: 2,
    respond: (response, text) => {
      response.writeHead(200, { ...json, 'content-length': text.length })
      response.write(text.slice(0, text.length / 2), () => response.destroy())
    },
  },
  { name: 'half of the text', times: 2, respond: (response, text) => response.writeHead(200, json).end(text.slice(9)) },
  { name: '429', times: 3, respond: (response) => response.writeHead(429).end() },
  {
    name: '429 with Retry-After',
    times: 2,
    respond: (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
  },
  { name: 'status 500', times: 3, respond: (response) => response.writeHead(500).end() },
  {
    name: 'an HTML page',
    times: 2,
    respond: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  },
  {
    name: 'more than the limit',
    times: 2,
    respond: (response) => response.writeHead(200, json).end(`"${'x'.repeat(5 * 2 ** 20)}"`),
  },
  {
    name: 'a gzip bomb',
    times: 2,
    respond: (response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(32 * 2 ** 20, 0x20))),
  },
  {
    name: 'JSON nested too deep',
    times: 2,
    respond: (response) => response.writeHead(200, json).end('['.repeat(5000)),
  },
  {
    name: 'internal errors',
    times: 4,
    result: () => {
      throw new RpcFailure(-32603, 'internal error')
    },
  },
  {
    name: 'block not found for blocks that are there',
    times: 6,
    result: (method, result) => {
      if (!BLOCK.test(method)) return result
      throw new RpcFailure(24, 'Block not found')
    },
  },
  { name: 'null for blocks', times: 6, result: (method, result) => (/BlockWith/.test(method) ? null : result) },
  {
    name: 'a head far beyond the newest block',
    times: 20,
    result: (method, result) => {
      const isHead = HEAD.test(method) && !('transactions' in (result as Json))
      return isHead ? { ...(result as Json), block_number: 1_000_000 } : result
    },
  },
]
