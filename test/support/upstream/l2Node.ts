import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { encodeShortString, formatFelt } from '../../../src/chain/starknet/felt.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import {
  toFeederJson,
  toFeederStateUpdateJson,
  toRpcHeaderJson,
  toRpcReceiptJson,
  toRpcReceiptsJson,
  toRpcStateUpdateJson,
  toRpcTxsJson,
} from '../chains/l2Json.js'
import { RpcFailure } from './scriptedUpstream.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A block as a node of the tests gives it. */
export interface L2NodeBlock {
  readonly number: number
  readonly hash: string
  /** The result of an RPC method, or of a call to the feeder gateway. */
  answer(method: string, minor: number): object
}

/** What a node does wrong. */
export interface L2Fault {
  readonly name: string
  /** Methods that it does not have. */
  readonly lacks?: readonly string[]
  /** Another result of a call, the feeder's included; it may throw an `RpcFailure`. */
  readonly result?: (method: string, result: unknown) => unknown
  /** Sends something in place of the response. */
  readonly respond?: (response: ServerResponse, text: string) => void
  /** How many results or responses are spoiled; all by default. */
  readonly times?: number
}

/** A Starknet node of the tests: JSON-RPC over HTTP and WebSocket, and a feeder gateway. */
export interface L2Node {
  readonly url: string
  readonly wsUrl: string
  /** The chain; numbers may begin above 0. */
  blocks: readonly L2NodeBlock[]
  /** The unconfirmed block: its JSON by RPC, and by the feeder. */
  pending: { rpc: object; feeder: object } | undefined
  /** Blocks up to this number are ACCEPTED_ON_L1. */
  acceptedOnL1: number
  /** Minor number of the RPC specification, 6 to 10. */
  minor: number
  chainId: string
  fault: L2Fault | undefined
  /** Methods in the order in which they came. */
  readonly calls: string[]
  lastHeaders: IncomingMessage['headers']
  /** Sets the chain, and notifies subscribers. */
  become(blocks: readonly L2NodeBlock[]): void
  readonly subscribers: number
}

/** A node block of a whole block. */
export function nodeBlock(block: L2Block): L2NodeBlock {
  return {
    number: block.number!,
    hash: formatFelt(block.hash!),
    answer: (method, minor) => {
      if (method === 'get_block') return toFeederJson(block)
      const wantsUpdate = method === 'get_state_update' || method === 'starknet_getStateUpdate'
      if (wantsUpdate && block.stateDiff === undefined) throw new RpcFailure(24, 'Block not found')
      if (method === 'get_state_update') return toFeederStateUpdateJson(block)
      if (method === 'starknet_getBlockWithReceipts') return toRpcReceiptsJson(block, minor)
      if (method === 'starknet_getBlockWithTxs') return toRpcTxsJson(block, minor)
      if (method === 'starknet_getStateUpdate') return toRpcStateUpdateJson(block)
      if (method === 'receipts') return block.receipts!.map((receipt) => toRpcReceiptJson(receipt, minor))
      return toRpcHeaderJson(block, minor)
    },
  }
}

/** Starts a node on a free port, which is closed when the test ends. */
export async function startL2Node(t: After, chain: readonly L2Block[] = []): Promise<L2Node> {
  const subscribers = new Set<WebSocket>()
  let spoiled = 0
  let spoiledFault: L2Fault | undefined
  const takeSpoil = () => {
    if (node.fault !== spoiledFault) spoiled = 0
    spoiledFault = node.fault
    return node.fault !== undefined && spoiled++ < (node.fault.times ?? Number.POSITIVE_INFINITY)
  }
  const newest = () => {
    const last = node.blocks.at(-1)
    if (last === undefined) throw new RpcFailure(32, 'There are no blocks')
    return last
  }
  const find = (isIt: (block: L2NodeBlock) => boolean): L2NodeBlock => {
    const found = node.blocks.find(isIt)
    if (found === undefined) throw new RpcFailure(24, 'Block not found')
    return found
  }
  const withStatus = (block: L2NodeBlock, json: object): object => {
    const isFinal = 'status' in json && json.status === 'ACCEPTED_ON_L2' && block.number <= node.acceptedOnL1
    return isFinal ? { ...json, status: 'ACCEPTED_ON_L1' } : json
  }
  const answerRpc = (method: string, [id]: unknown[]): unknown => {
    if (method === 'starknet_specVersion') return `0.${node.minor}.0`
    if (method === 'starknet_chainId') return formatFelt(encodeShortString(node.chainId))
    if (method === 'starknet_blockHashAndNumber') return { block_hash: newest().hash, block_number: newest().number }
    if (method === 'starknet_getTransactionReceipt') {
      for (const block of node.blocks) {
        const receipts = block.answer('receipts', node.minor) as { transaction_hash: string }[]
        const found = receipts.find(({ transaction_hash: hash }) => hash === id)
        if (found) return found
      }
      throw new RpcFailure(29, 'Transaction hash not found')
    }
    if (method.startsWith('starknet_getBlockWithReceipts') && node.minor < 7) throw new RpcFailure(-32601, 'no method')
    if (!/^starknet_get(BlockWith|StateUpdate)/.test(method)) throw new RpcFailure(-32601, 'the method is not known')
    if (id === (node.minor >= 9 ? 'pre_confirmed' : 'pending')) {
      if (node.pending) return node.pending.rpc
      throw new RpcFailure(24, 'Block not found')
    }
    const block = findBlock(id)
    return withStatus(block, block.answer(method, node.minor))
  }
  const findBlock = (id: unknown): L2NodeBlock => {
    if (id === 'latest') return newest()
    if (id === 'l1_accepted' && node.minor >= 9) return find(({ number }) => number === node.acceptedOnL1)
    const { block_number: number, block_hash: hash } = (typeof id === 'object' ? id : {}) as Record<string, unknown>
    if (number === undefined && hash === undefined) throw new RpcFailure(-32602, 'invalid params')
    return find((block) => block.number === number || block.hash === hash)
  }
  const answerFeeder = (method: string, query: URLSearchParams): object => {
    const number = query.get('blockNumber')
    if (method === 'get_preconfirmed_block' || number === 'pending') {
      const isThere = node.pending && (number === 'pending' || Number(number) === newest().number + 1)
      const isPreconfirmed = node.pending && 'transaction_state_diffs' in node.pending.feeder
      if (isThere && (number !== 'pending') === isPreconfirmed) return node.pending!.feeder
      throw new RpcFailure(24, 'BLOCK_NOT_FOUND')
    }
    const block = number === 'latest' ? newest() : find((each) => each.number === Number(number))
    if (query.has('headerOnly')) return { block_hash: block.hash, block_number: block.number }
    const json = withStatus(block, block.answer(method, node.minor))
    return 'block' in json ? { ...json, block: withStatus(block, json.block as object) } : json
  }
  const run = (method: string, answer: () => unknown): unknown => {
    node.calls.push(method)
    if (node.fault?.lacks?.includes(method)) throw new RpcFailure(-32601, 'the method is not known')
    const right = answer()
    return node.fault?.result && takeSpoil() ? node.fault.result(method, right) : right
  }
  const handleRpc = (text: string, socket?: WebSocket): string => {
    const answerOne = ({ id, method, params }: { id: number; method: string; params: unknown[] }) => {
      try {
        const isSubscription = socket && method === 'starknet_subscribeNewHeads' && node.minor >= 8
        if (isSubscription) subscribers.add(socket)
        return { jsonrpc: '2.0', id, result: run(method, () => (isSubscription ? '7' : answerRpc(method, params))) }
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error
        return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
      }
    }
    const parsed = JSON.parse(text)
    return JSON.stringify(Array.isArray(parsed) ? parsed.map(answerOne) : answerOne(parsed))
  }
  const handleFeeder = (url: URL): { status: number; text: string } => {
    try {
      const method = url.pathname.split('/').at(-1)!
      return { status: 200, text: JSON.stringify(run(method, () => answerFeeder(method, url.searchParams))) }
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      const code = error.code === 24 ? 'StarknetErrorCode.BLOCK_NOT_FOUND' : 'StarkErrorCode.MALFORMED_REQUEST'
      return { status: 400, text: JSON.stringify({ code, message: error.message }) }
    }
  }
  const server = createServer(async (request, response) => {
    node.lastHeaders = request.headers
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const isRpc = request.method === 'POST'
    const { status, text } = isRpc
      ? { status: 200, text: handleRpc(Buffer.concat(chunks).toString()) }
      : handleFeeder(new URL(request.url!, 'http://node'))
    if (node.fault?.respond && takeSpoil()) return node.fault.respond(response, text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('close', () => subscribers.delete(socket))
    socket.on('message', (data) => socket.send(handleRpc(String(data), socket)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const node: L2Node = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    blocks: chain.map(nodeBlock),
    pending: undefined,
    acceptedOnL1: -1,
    minor: 9,
    chainId: 'SN_SEPOLIA',
    fault: undefined,
    calls: [],
    lastHeaders: {},
    become: (blocks) => {
      node.blocks = blocks
      const result = newest().answer('starknet_getBlockWithTxHashes', node.minor)
      const params = { subscription_id: '7', result }
      const text = JSON.stringify({ jsonrpc: '2.0', method: 'starknet_subscriptionNewHeads', params })
      for (const socket of subscribers) socket.send(text)
    },
    get subscribers() {
      return subscribers.size
    },
  }
  return node
}
