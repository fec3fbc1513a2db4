import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { formatQuantity } from '../../../src/lib/hex.js'
import { type CairnServer, startCairn } from '../cairn.js'
import type { RecordedAnswer } from '../chains/recordings.js'
import { type Ask, listAsks } from '../compare/allAnswers.js'
import { compareAnswers } from '../compare/compareAnswers.js'
import { type LogObject, replayLogs } from '../manySubscribers.js'
import { ask, resultOf, send } from '../rpcClient.js'
import { temporaryDirectory } from '../temporary.js'
import { untilValue } from '../until.js'
import { openSubscriber, type SubscribingClient } from '../webSocketClient.js'

/** A development node with an unlocked account. */
export interface Peer {
  readonly url: string
  readonly wsUrl: string
  /** Mines the transactions, which lack `from`, each in a block of its own. @returns their hashes */
  mine(transactions: readonly object[]): Promise<string[]>
  /** Gives up the newest `depth` blocks, or makes others of them. */
  reorg(depth: number): Promise<void>
  /** The method and the difference (`result.size: …`) where the node departs from the specification. */
  readonly faults: RegExp
}

// Without call data the contract returns slot 0. With it, it adds one to slot 0 and logs the data; the first word is
// the topic.
const LOGGER_CODE = '36600c575f545f5260205ff35b365f5f375f546001015f555f35365fa100'
const DEPLOY_LOGGER = `0x601e8060095f395ff3${LOGGER_CODE}`
const LOGGERS = 4
const TOPICS = 8
const GAS = '0x30d40' // the blocks of the anvil peer have little more
const DEPLOY_FAILING = '0x60fe5f5360015ff3' // a contract whose only instruction is invalid

/** Makes blocks of a peer: transfers, contract creations, calls that log and count, transactions that fail. */
export interface Traffic {
  readonly loggers: readonly string[]
  /** The next transaction, without its sender. */
  make(): object
  mine(blocks: number): Promise<void>
}

/** Deploys the contracts of the traffic, in blocks of their own. Each transaction may use `gas`. */
export async function startTraffic(peer: Peer, gas = GAS): Promise<Traffic> {
  const creation = { gas, data: DEPLOY_LOGGER }
  const hashes = await peer.mine([...Array.from({ length: LOGGERS }, () => creation), { gas, data: DEPLOY_FAILING }])
  const receipts = hashes.map((hash) =>
    resultOf<{ contractAddress: string }>(peer.url, 'eth_getTransactionReceipt', [hash]),
  )
  const contracts = (await Promise.all(receipts)).map(({ contractAddress }) => contractAddress)
  const [loggers, failing] = [contracts.slice(0, LOGGERS), contracts[LOGGERS]]
  let made = 0
  const make = (): object => {
    const n = made++
    if (n % 50 === 0) return creation
    if (n % 23 === 0) return { gas, to: failing }
    if (n % 5 === 0) return { gas, to: `0x${(n % 40).toString(16).padStart(40, 'f')}`, value: formatQuantity(n + 1) }
    const data = `${(n % TOPICS).toString(16).padStart(64, '0')}${n.toString(16).padStart(8 + (n % 40) * 2, '0')}`
    return { gas, to: loggers[n % LOGGERS], data: `0x${data}` }
  }
  return { loggers, make, mine: async (blocks) => void (await peer.mine(Array.from({ length: blocks }, make))) }
}

/** Follows the peer with `--network dev`, first through `blocks` blocks, then through reorgs of the depths, and fails
 *  unless all answers are the peer's each time, and the notifications of subscribers give the peer's logs. */
export async function checkFollowing(
  t: TestContext,
  peer: Peer,
  { blocks, depths }: { blocks: number; depths: readonly number[] },
): Promise<void> {
  const traffic = await startTraffic(peer)
  await traffic.mine(blocks)
  const datadir = temporaryDirectory(t)
  const server = await startFollower(t, { datadir, peer })
  let head = await reachHead(server, peer)
  assert.ok(head >= blocks)
  await compareFrom(0, { server, peer, datadir, traffic })
  const filter = { address: traffic.loggers.slice(0, 2), topics: [`0x${'1'.padStart(64, '0')}`] }
  const subscribers = await Promise.all([{}, filter].map((each) => subscribe(t, server, { filter: each, above: head })))
  for (const depth of depths) {
    // More than the reorg removes: subscribers are notified that logs they know of are removed.
    await traffic.mine(depth + 3)
    head = await reachHead(server, peer)
    await peer.reorg(depth)
    await traffic.mine(depth + 1)
    const from = head - depth - 1
    head = await reachHead(server, peer)
    await compareFrom(from, { server, peer, datadir, traffic })
    const logs = await Promise.all(subscribers.map((subscriber) => compareSubscriber(subscriber, { peer, head })))
    if (depth > 20)
      assert.ok(
        logs.every((count) => count > 0),
        `${logs} logs`,
      )
  }
  // The status is up to 250 ms old.
  await untilValue(
    async () => (await (await fetch(`${server.url}/health`)).json()) as { following: { reorgs: number } },
    ({ following }) => following.reorgs >= depths.length,
  )
}

/** Starts Cairn following the peer. A query waits up to a minute for a thread before it is refused, so that answers do
 *  not depend on the load of the machine. */
export function startFollower(
  t: TestContext,
  { datadir, peer }: { datadir: string; peer: Pick<Peer, 'wsUrl'> },
): Promise<CairnServer> {
  const follows = ['--open', '--network', 'dev', '--upstream', peer.wsUrl]
  return startCairn(t, ['--datadir', datadir, ...follows])
}

interface BlockId {
  number: string
  hash: string
}

/** Waits until the server has the peer's head of now. @returns its number */
export async function reachHead(server: { url: string }, peer: Peer): Promise<number> {
  const { number, hash } = await resultOf<BlockId>(peer.url, 'eth_getBlockByNumber', ['latest', false])
  // Null, or an error while blocks before it are fetched.
  const blockOfServer = async () =>
    (await ask(server.url, 'eth_getBlockByNumber', [number, false])).result as BlockId | null
  await untilValue(blockOfServer, (block) => block?.hash === hash, 600_000) // thousands of blocks of a thorough run
  return Number(number)
}

/** A server and the node whose chain it has. */
export interface Compared {
  server: { url: string }
  peer: Pick<Peer, 'url' | 'faults'>
  /** With the database that is served, or the same. */
  datadir: string
  traffic: Pick<Traffic, 'loggers'>
  /** Further questions about the state of a block, asked of each seventh. */
  asksAt?: (blockNumber: number) => Ask[]
}

const BATCH = 200

/** Fails unless every answer about the blocks from `fromBlock` on is the peer's. */
export async function compareFrom(
  fromBlock: number,
  { server, peer, datadir, traffic, asksAt }: Compared,
): Promise<void> {
  const head = Number(await resultOf<string>(server.url, 'eth_blockNumber'))
  const calls: Ask[] = []
  for (let number = Math.max(fromBlock, LOGGERS); number <= head; number += 7) {
    const to = traffic.loggers[number % LOGGERS]
    calls.push({ method: 'eth_call', params: [{ to }, formatQuantity(number)] })
    calls.push(...(asksAt?.(number) ?? []))
  }
  const asks = [...listAsks(datadir, fromBlock), ...calls].filter((each) => !isIncomparable(each))
  for (let from = 0; from < asks.length; from += BATCH) {
    const batch = asks.slice(from, from + BATCH).map((each, id) => ({ jsonrpc: '2.0', id, ...each }))
    const [wanted, found] = await Promise.all([answersOf(peer.url, batch), answersOf(server.url, batch)])
    for (const [i, { method, params }] of batch.entries()) {
      const differences = compareAnswers(wanted.get(i)!, found.get(i)!).map((each) => `${method} ${each}`)
      const own = differences.filter((each) => !peer.faults.test(each))
      assert.deepEqual(own, [], JSON.stringify(params))
    }
  }
}

async function answersOf(url: string, batch: readonly object[]): Promise<Map<number, RecordedAnswer>> {
  const answers = (await send(url, batch)) as unknown as (RecordedAnswer & { id: number })[]
  return new Map(answers.map((answer) => [answer.id, answer]))
}

/** True for what nodes are free to answer: suggested fees, progress, the head of a chain that grows by itself, and what
 *  is not the chain's. */
function isIncomparable({ method }: Ask): boolean {
  return /^(starknet_.*|eth_blockNumber|eth_syncing|eth_gasPrice|eth_maxPriorityFeePerGas|eth_feeHistory)$/.test(method)
}

interface Subscriber {
  client: SubscribingClient
  filter: object
  /** Head when it subscribed. */
  above: number
  logs: string
  heads: string
}

async function subscribe(
  t: TestContext,
  { url }: CairnServer,
  { filter, above }: { filter: object; above: number },
): Promise<Subscriber> {
  const client = await openSubscriber(t, url)
  const [logs, heads] = await Promise.all([
    client.ask('eth_subscribe', 'logs', filter),
    client.ask('eth_subscribe', 'newHeads'),
  ])
  return { client, filter, above, logs: logs.result as string, heads: heads.result as string }
}

/** Fails unless the notifications, replayed, give the logs of the peer, once its head was notified.
 *  @returns how many logs there are */
async function compareSubscriber(
  { client, filter, above, logs, heads }: Subscriber,
  { peer, head }: { peer: Peer; head: number },
): Promise<number> {
  const block = await resultOf<BlockId>(peer.url, 'eth_getBlockByNumber', [formatQuantity(head), false])
  const of = (subscription: string) => client.notifications.filter((each) => each.subscription === subscription)
  await client.until(() => of(heads).some(({ result }) => (result as BlockId).hash === block.hash))
  // An answer comes after what was sent before it: the logs of the head are there.
  await client.ask('eth_blockNumber')
  const range = { fromBlock: formatQuantity(above + 1), toBlock: formatQuantity(head) }
  const wanted = await resultOf<LogObject[]>(peer.url, 'eth_getLogs', [{ ...filter, ...range }])
  assert.deepEqual([...replayLogs(of(logs)).keys()].sort(), wanted.map(keyOf).sort())
  return wanted.length
}

function keyOf({ blockHash, logIndex }: LogObject): string {
  return `${blockHash} ${logIndex}`
}
