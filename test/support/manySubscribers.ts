import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { ADDRESSES, type InventedChain, openInventedChain, TOPICS } from './chains/inventedChain.js'
import { matchesFilter } from './compare/matchesFilter.js'
import { seededRandom } from './random.js'
import { startTestServer } from './serving.js'
import { temporaryDirectory } from './temporary.js'
import { type Notification, openSubscriber } from './webSocketClient.js'

/** A log object as far as these tests look at it. */
export interface LogObject {
  blockHash: string
  blockNumber: string
  logIndex: string
  removed: boolean
  address: string
  topics: string[]
}

/** Applies notifications of logs to the logs that are there; a log that is missing or doubled fails. */
export function replayLogs(notifications: readonly Notification[]): Map<string, LogObject> {
  const logs = new Map<string, LogObject>()
  for (const { result } of notifications) {
    const log = result as LogObject
    const key = `${log.blockHash} ${log.logIndex}`
    assert.equal(logs.has(key), log.removed, `${key}: ${log.removed ? 'removed, but not there' : 'twice'}`)
    if (log.removed) logs.delete(key)
    else logs.set(key, log)
  }
  return logs
}

/** Keys of the chain's logs above block `above` that match the filter, in order. */
export function logKeys(chain: InventedChain, above: number, filter: object = {}): string[] {
  return chain.blocks.slice(above + 1).flatMap(({ block, receipts }) =>
    receipts
      .flatMap(({ logs }) => logs)
      .map((log, i) => ({ log, key: `${formatData(block.hash)} 0x${i.toString(16)}` }))
      .filter(({ log }) => matchesFilter(log, { fromBlock: 0, toBlock: 0, topics: [], ...filter }))
      .map(({ key }) => key),
  )
}

/** A load of subscribers on a chain that changes. */
export interface SubscriberLoad {
  subscribers: number
  blocks: number
  reorgs: number
  logsPerBlock: number
}

/** Attaches subscribers to logs, changes the chain, and fails unless the notifications of each give the logs of the
 *  chain: none missed, none doubled. */
export async function checkManySubscribers(t: TestContext, load: SubscriberLoad): Promise<void> {
  const datadir = temporaryDirectory(t)
  const random = seededRandom(200)
  const chain = await openInventedChain(datadir, { random: seededRandom(14), logsPerBlock: load.logsPerBlock })
  t.after(() => chain.close())
  chain.change(0, 3)
  const { url } = await startTestServer(t, { datadir, methodsModule: undefined })
  const some = (values: Uint8Array[]) => values.slice(random.below(values.length)).slice(0, 1 + random.below(3))
  const clients = []
  for (let i = 0; i < load.subscribers; i++) {
    const filter = {
      addresses: i % 3 === 0 ? some(ADDRESSES) : [],
      topics: Array.from({ length: random.below(4) }, () => (random.below(2) ? some(TOPICS) : null)),
    }
    const client = await openSubscriber(t, url)
    await client.ask('eth_subscribe', 'logs', {
      address: filter.addresses.map(formatData),
      topics: filter.topics.map((values) => values?.map(formatData) ?? null),
    })
    const { result: heads } = await client.ask('eth_subscribe', 'newHeads')
    clients.push({ client, filter, heads })
  }
  const isReorg = (step: number) => step % Math.floor(load.blocks / load.reorgs) === 0
  for (let step = 1; step <= load.blocks; step++) {
    const removed = isReorg(step) ? 1 + random.below(Math.min(8, chain.blocks.length - 4)) : 0
    chain.change(removed, removed + 1)
    // Every other change is seen by itself, and some come together.
    if (random.below(2)) await clients[0].client.untilHead(chain.blocks.at(-1)!.block.hash)
  }
  // Logs come after their head, and so before the next one.
  chain.change(0, 1)
  const end = chain.blocks.at(-1)!.block.hash
  await Promise.all(clients.map(({ client }) => client.untilHead(end)))
  for (const { client, filter, heads } of clients) {
    const last = client.notifications.findLastIndex(isHeadOf(heads, end))
    const logs = client.notifications.slice(0, last).filter(({ subscription }) => subscription !== heads)
    const wanted = logKeys(chain, 3, filter).filter((key) => !key.startsWith(formatData(end)))
    assert.deepEqual([...replayLogs(logs).keys()].sort(), wanted.sort())
  }
}

function isHeadOf(heads: unknown, hash: Uint8Array) {
  return ({ subscription, result }: Notification) =>
    subscription === heads && (result as { hash: string }).hash === formatData(hash)
}
