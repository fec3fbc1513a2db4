import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { Filters } from '../../../src/rpc/subscriptions/filters.js'
import { DEFAULT_SUBSCRIPTION_LIMITS, type SubscriptionLimits } from '../../../src/rpc/subscriptions/limits.js'
import { ListenerMemory } from '../../../src/rpc/subscriptions/listenerMemory.js'
import {
  createSubscriptionRegistry,
  NewHead,
  type SubscriptionRegistry,
} from '../../../src/rpc/subscriptions/subscriptionRegistry.js'
import { createApiKeyTable, openForKeys } from '../../../src/store/keys/apiKeys.js'
import { EVERYTHING } from '../../../src/store/rows/chainFollower.js'
import type { StoredBlock } from '../../../src/store/rows/types.js'
import { ADDRESSES, openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { type Answer, post, request, startTestServer } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { openSubscriber } from '../../support/webSocketClient.js'

const NOT_FOUND = { code: -32000, message: 'filter not found' }

async function serveChain(
  t: Parameters<typeof startTestServer>[0],
  open = true,
  limits: Partial<SubscriptionLimits> = {},
) {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(15), logsPerBlock: 6 })
  t.after(() => chain.close())
  chain.change(0, 3)
  const { url } = await startTestServer(t, {
    ...{ datadir, methodsModule: undefined, open },
    subscriptionLimits: { ...DEFAULT_SUBSCRIPTION_LIMITS, ...limits },
  })
  return { chain, url, datadir }
}

/** What one poll returns: the changes of every block that is stored, also right after another connection has committed
 *  it. */
async function pollOf(ask: () => Promise<Answer>): Promise<unknown[]> {
  return (await ask()).result as unknown[]
}

test('filters give each new log and block once, over HTTP and WebSocket, and removed logs on a reorg', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const http = async (method: string, ...params: unknown[]) =>
    (await post(url, request(method, ...params))).json as Answer
  for (const ask of [http, client.ask]) {
    const head = chain.blocks.length - 1
    const { result: logs } = await ask('eth_newFilter', { fromBlock: '0x1' })
    const { result: blocks } = await ask('eth_newBlockFilter')
    const { result: pending } = await ask('eth_newPendingTransactionFilter')
    assert.deepEqual((await ask('eth_getFilterChanges', logs)).result, [])
    chain.change(0, 2)
    const old = chain.blocks.slice(head + 1)
    chain.change(1, 2)
    const hashes = (await pollOf(() => ask('eth_getFilterChanges', blocks))) as string[]
    const wanted = chain.blocks.slice(head + 1).map(({ block }) => formatData(block.hash))
    // The removed block is reported only if the filter saw it before the reorg.
    assert.deepEqual(
      hashes.filter((hash) => hash !== formatData(old[1].block.hash)),
      wanted,
    )
    assert.deepEqual((await ask('eth_getFilterChanges', blocks)).result, [])
    const { result: changes } = (await ask('eth_getFilterChanges', logs)) as { result: Record<string, unknown>[] }
    const { result: held } = await ask('eth_getLogs', { fromBlock: `0x${(head + 1).toString(16)}` })
    const removed = changes.filter((log) => log.removed)
    const keyOf = ({ blockHash, logIndex }: Record<string, unknown>) => `${blockHash} ${logIndex}`
    const gone = new Set(removed.map(keyOf))
    assert.deepEqual(
      changes.filter((log) => !log.removed && !gone.has(keyOf(log))),
      held,
    )
    assert.deepEqual(
      (await ask('eth_getFilterLogs', logs)).result,
      (await ask('eth_getLogs', { fromBlock: '0x1' })).result,
    )
    assert.deepEqual((await ask('eth_getFilterLogs', blocks)).error, NOT_FOUND)
    assert.deepEqual((await ask('eth_getFilterChanges', pending)).result, [])
    assert.equal((await ask('eth_uninstallFilter', logs)).result, true)
    assert.equal((await ask('eth_uninstallFilter', logs)).result, false)
    assert.deepEqual((await ask('eth_getFilterChanges', logs)).error, NOT_FOUND)
  }
})

test('a filter begins with the first block after its response', async (t) => {
  const { chain, url } = await serveChain(t)
  const ask = async (method: string, ...params: unknown[]) =>
    (await post(url, request(method, ...params))).json as Answer
  await ask('eth_newBlockFilter') // from here on the chain is looked at
  for (let i = 0; i < 20; i++) {
    chain.change(0, 2)
    const { result: id } = await ask('eth_newBlockFilter')
    chain.change(0, 1)
    assert.deepEqual(await pollOf(() => ask('eth_getFilterChanges', id)), [formatData(chain.blocks.at(-1)!.block.hash)])
  }
})

/** Calls with a new key, over HTTP and WebSocket. */
async function askWithKey(t: Parameters<typeof openSubscriber>[0], { url, datadir }: { url: string; datadir: string }) {
  const db = openForKeys(datadir)
  const { key } = createApiKeyTable(db).create('a name')
  db.close()
  const { ask } = await openSubscriber(t, url, `/ws/v3/${key}`)
  const post1 = async (method: string, ...params: unknown[]) =>
    (await post(`${url}/v3/${key}`, request(method, ...params))).json as Answer
  return [post1, ask] as const
}

test('the changes of a reorg are the logs of the removed blocks, the lowest first, then those of the new ones', async (t) => {
  const { chain, url } = await serveChain(t)
  const random = seededRandom(16)
  const { ask } = await openSubscriber(t, url)
  type LogObject = Record<string, unknown>
  const logsFrom = async (number: number, address: string | undefined) =>
    (await ask('eth_getLogs', { fromBlock: `0x${number.toString(16)}`, address })).result as LogObject[]
  const addresses = [undefined, formatData(ADDRESSES[3])]
  const filters = await Promise.all(addresses.map((address) => ask('eth_newFilter', { address })))
  const { result: blocks } = await ask('eth_newBlockFilter')
  for (let round = 0; round < 25; round++) {
    const removed = random.below(Math.min(6, chain.blocks.length - 1))
    const from = chain.blocks.length - removed
    const held =
      from < chain.blocks.length ? await Promise.all(addresses.map((each) => logsFrom(from, each))) : [[], []]
    chain.change(removed, 1 + random.below(4))
    const hashes = chain.blocks.slice(from).map(({ block }) => formatData(block.hash))
    assert.deepEqual(await pollOf(() => ask('eth_getFilterChanges', blocks)), hashes)
    for (const [i, { result: id }] of filters.entries()) {
      const wanted = [...held[i].map((log) => ({ ...log, removed: true })), ...(await logsFrom(from, addresses[i]))]
      assert.deepEqual(await pollOf(() => ask('eth_getFilterChanges', id)), wanted)
    }
  }
})

test('the filters of a key are limited in number over HTTP and WebSocket together', async (t) => {
  const served = await serveChain(t, false, { filters: 2 })
  const [http, socket] = await askWithKey(t, served)
  const [first, second] = [await http('eth_newBlockFilter'), await socket('eth_newFilter', {})]
  for (const ask of [http, socket]) {
    for (const method of ['eth_newBlockFilter', 'eth_newFilter', 'eth_newPendingTransactionFilter']) {
      const { error } = await ask(method, ...(method === 'eth_newFilter' ? [{}] : []))
      assert.deepEqual(error, { code: -32005, message: 'too many filters: the limit is 2' })
    }
    for (const { result: id } of [first, second]) assert.deepEqual((await ask('eth_getFilterChanges', id)).result, [])
  }
  const [other] = await askWithKey(t, served)
  assert.equal((await other('eth_newBlockFilter')).error, undefined)
  await socket('eth_uninstallFilter', first.result)
  assert.equal((await http('eth_newBlockFilter')).error, undefined)
})

test('a filter is gone when it was not polled in time or would hold too much, over HTTP and WebSocket', async (t) => {
  const late = await askWithKey(t, await serveChain(t, false, { filterTimeoutMs: 0 }))
  for (const ask of late) {
    const { result: id } = await ask('eth_newBlockFilter')
    assert.deepEqual((await ask('eth_getFilterChanges', id)).error, NOT_FOUND)
  }
  const served = await serveChain(t, false, { filterBytes: 6_000 })
  for (const ask of await askWithKey(t, served)) {
    const { result: full } = await ask('eth_newFilter', {})
    const { result: blocks } = await ask('eth_newBlockFilter')
    served.chain.change(0, 10)
    await pollOf(() => ask('eth_getFilterChanges', blocks))
    assert.deepEqual((await ask('eth_getFilterChanges', full)).error, NOT_FOUND)
    assert.equal((await ask('eth_uninstallFilter', blocks)).result, true)
    const topics = [Array.from({ length: 30 }, (_, i) => `0x${String(i).padStart(64, '0')}`)]
    const { error } = await ask('eth_newFilter', { topics })
    assert.deepEqual(error, { code: -32005, message: 'too many filters: there is no memory for another' })
  }
})

test('a filter belongs to the key that made it', async (t) => {
  const { url, datadir } = await serveChain(t, false)
  const db = openForKeys(datadir)
  const [own, other] = ['own', 'other'].map((name) => createApiKeyTable(db).create(name).key)
  db.close()
  const ask = async (key: string, method: string, ...params: unknown[]) =>
    (await post(`${url}/v3/${key}`, request(method, ...params))).json as Answer
  const { result: id } = await ask(own, 'eth_newBlockFilter')
  assert.deepEqual((await ask(other, 'eth_getFilterChanges', id)).error, NOT_FOUND)
  assert.equal((await ask(other, 'eth_uninstallFilter', id)).result, false)
  assert.deepEqual((await ask(own, 'eth_getFilterChanges', id)).result, [])
})

test('filters are limited in number and memory, and expire when no client polls them', async () => {
  const limits = { ...DEFAULT_SUBSCRIPTION_LIMITS, filters: 3, filterBytes: 5_000 }
  const registry: SubscriptionRegistry = createSubscriptionRegistry()
  let nowMs = 0
  const memory = new ListenerMemory(limits)
  const filters = new Filters(registry, {
    limits,
    memory,
    mark: () => EVERYTHING,
    caughtUp: async () => {},
    now: () => nowMs,
  })
  const one = filters.of({ keyId: 1, countedAs: 1 })
  const other = filters.of({ keyId: 2, countedAs: 2 })
  const topic = { kind: 'newHeads' } as const
  const [first, second] = [one.add(topic), one.add(topic)]
  one.add({ kind: 'newPendingTransactions' })
  assert.throws(() => one.add(topic), /too many filters: the limit is 3/)
  const kept = other.add(topic)
  const head = new NewHead({ hash: new Uint8Array(32) } as StoredBlock)
  nowMs = limits.filterTimeoutMs
  assert.equal(String(await one.poll(first)), '[]')
  for (const listener of [...registry.heads]) listener.takeHead(head)
  assert.equal(JSON.parse(String(await other.poll(kept))).length, 1)
  nowMs++
  await assert.rejects(one.poll(second), /filter not found/)
  filters.sweep()
  assert.equal(filters.count(), 2)
  // No client polls the first one: it is removed before it takes more than the client may.
  const [listener] = registry.heads
  for (let i = 0; i < 100; i++) listener.takeHead(head)
  await assert.rejects(one.poll(first), /filter not found/)
  assert.equal(other.remove(kept), true)
  assert.deepEqual([filters.count(), memory.sizeBytes(), registry.size()], [0, 0, 0])
})
