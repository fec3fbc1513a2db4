import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatFelt } from '../../../src/chain/starknet/felt.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import type { ServingOptions } from '../../../src/cli/serving/options.js'
import { openL2Database, replaceL2Branch } from '../../support/chains/l2.js'
import { makeBlock, makePending, UNCHECKED } from '../../support/chains/l2Blocks.js'
import { seededRandom } from '../../support/random.js'
import { post, request, startTestServer } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { openSubscriber, type SubscribingClient } from '../../support/webSocketClient.js'

const INVALID_ID = { code: 66, message: 'Invalid subscription id' }

/** A server of Cairn's methods over layer-2 blocks 0 to `head` that the test changes. */
async function serveL2(t: TestContext, head: number, options: Partial<ServingOptions> = {}) {
  const datadir = temporaryDirectory(t)
  const database = openL2Database(datadir)
  const chain: L2Block[] = []
  for (let number = 0; number <= head; number++) chain.push(inventBlock(number, chain.at(-1)))
  database.writer.transaction(() => {
    for (const block of chain) database.writer.importBlock(block, UNCHECKED)
  })
  const serving = await startTestServer(t, { datadir, methodsModule: undefined, ...options })
  t.after(() => database.close())
  /** Replaces the newest `removed` blocks by `added` new ones, in one transaction. */
  const change = (removed: number, added: number) => {
    chain.length -= removed
    const branch: L2Block[] = []
    for (let i = 0; i < added; i++) {
      branch.push(inventBlock(chain.length, chain.at(-1)))
      chain.push(branch[i])
    }
    replaceL2Branch(database, chain.length - added - 1, branch)
  }
  return { ...serving, ...database, chain, change }
}

let serial = 1_000_000n

/** Returns a block with a unique hash, which is a counter and not computed. */
function inventBlock(number: number, parent: L2Block | undefined): L2Block {
  return makeBlock({ number, parentHash: parent?.hash ?? 0n, hash: serial++ })
}

interface Header {
  block_hash: string
  block_number: number
  parent_hash: string
}
interface Reorg {
  starting_block_hash: string
  starting_block_number: number
  ending_block_hash: string
  ending_block_number: number
}

/** Returns the notifications of a subscription: `+ HASH` for a block, `- HASH HASH` for the ends of a reorg. */
function describe(client: SubscribingClient, id?: unknown): string[] {
  const own = client.notifications.filter(({ subscription_id }) => id === undefined || subscription_id === id)
  return own.map(({ method, result }) => {
    if (method === 'starknet_subscriptionNewHeads') return `+ ${(result as Header).block_hash}`
    assert.equal(method, 'starknet_subscriptionReorg')
    const { starting_block_hash, ending_block_hash } = result as Reorg
    return `- ${starting_block_hash} ${ending_block_hash}`
  })
}

const added = (blocks: readonly L2Block[]) => blocks.map(({ hash }) => `+ ${formatFelt(hash!)}`)
const endsWith = (block: L2Block) => (all: { result: unknown }[]) =>
  (all.at(-1)?.result as Header | undefined)?.block_hash === formatFelt(block.hash!)

test('a subscriber is notified of new blocks, and of a reorg before the blocks of its branch', async (t) => {
  const { url, chain, change } = await serveL2(t, 5)
  const client = await openSubscriber(t, url)
  const { result: id } = await client.ask('starknet_subscribeNewHeads')
  assert.equal(typeof id, 'string')
  change(0, 3)
  const old = chain.slice(6)
  await client.until(endsWith(old[2]))
  change(2, 4)
  await client.until(endsWith(chain.at(-1)!))
  const removed = `- ${formatFelt(old[1].hash!)} ${formatFelt(old[2].hash!)}`
  assert.deepEqual(describe(client, id), [...added(old), removed, ...added(chain.slice(7))])
  const reorg = client.notifications[3].result
  assert.deepEqual(reorg, {
    starting_block_hash: formatFelt(old[1].hash!),
    starting_block_number: 7,
    ending_block_hash: formatFelt(old[2].hash!),
    ending_block_number: 8,
  })
  change(1, 0)
  await client.until(({ length }) => length === 9)
  assert.equal((client.notifications[8].result as Reorg).starting_block_number, 10)
})

test('the header is the block of starknet_getBlockWithTxHashes without status and transactions', async (t) => {
  const { url, chain, change } = await serveL2(t, 1)
  const client = await openSubscriber(t, url)
  await client.ask('starknet_subscribeNewHeads', 'latest')
  change(0, 1)
  await client.until(endsWith(chain[2]))
  const { result } = await client.ask('starknet_getBlockWithTxHashes', 'latest')
  const { status, transactions, ...header } = result as Record<string, unknown>
  assert.deepEqual(client.notifications[0].result, header)
})

for (const by of ['number', 'hash'] as const) {
  test(`with the ${by} of a block, it and all after it come first, then new ones`, async (t) => {
    const { url, chain, change } = await serveL2(t, 40)
    const client = await openSubscriber(t, url)
    const block_id = by === 'number' ? { block_number: 7 } : { block_hash: formatFelt(chain[7].hash!) }
    await client.send({ jsonrpc: '2.0', id: 1, method: 'starknet_subscribeNewHeads', params: { block_id } })
    assert.equal(client.beforeAnswer(), 0)
    change(0, 2)
    await client.until(({ length }) => length >= 36)
    assert.deepEqual(describe(client), added(chain.slice(7)))
    change(0, 1)
    await client.until(endsWith(chain.at(-1)!))
    assert.deepEqual(describe(client), added(chain.slice(7)))
  })
}

test('a backlog has at most 1024 blocks before the head, of blocks that are canonical', async (t) => {
  const { url, chain, change, writer } = await serveL2(t, 1030)
  const client = await openSubscriber(t, url)
  const refusal = async (...params: unknown[]) => (await client.ask('starknet_subscribeNewHeads', ...params)).error
  assert.deepEqual(await refusal({ block_number: 5 }), { code: 68, message: 'Cannot go back more than 1024 blocks' })
  assert.deepEqual(await refusal({ block_number: 1031 }), { code: 24, message: 'Block not found' })
  assert.deepEqual(await refusal({ block_hash: '0x123' }), { code: 24, message: 'Block not found' })
  const { hash } = chain.at(-1)!
  change(1, 1)
  assert.deepEqual(await refusal({ block_hash: formatFelt(hash!) }), { code: 24, message: 'Block not found' })
  writer.importBlock(makePending({ parentHash: chain.at(-1)!.hash }), UNCHECKED)
  const pending = { code: 69, message: 'This method does not support being called on the pending block' }
  assert.deepEqual(await refusal('pending'), pending)
  assert.deepEqual(await refusal('pre_confirmed'), pending)
  assert.match((await refusal('l1_accepted'))!.message, /^invalid argument 0: block_id: expected one of latest/)
  assert.equal(await refusal({ block_number: 6 }), undefined)
  await client.until(({ length }) => length === 1025)
  assert.deepEqual(describe(client), added(chain.slice(6)))
})

test('over HTTP there are no subscriptions, and ids belong to their connection', async (t) => {
  const { url } = await serveL2(t, 1)
  const error = async (method: string, ...params: unknown[]) => (await post(url, request(method, ...params))).json.error
  assert.deepEqual(await error('starknet_subscribeNewHeads'), {
    code: -32601,
    message: 'notifications not supported',
  })
  assert.deepEqual(await error('starknet_unsubscribe', '0x1'), INVALID_ID)
  const [one, other] = [await openSubscriber(t, url), await openSubscriber(t, url)]
  const { result } = await one.ask('starknet_subscribeNewHeads')
  assert.deepEqual((await other.ask('starknet_unsubscribe', result)).error, INVALID_ID)
  assert.equal((await one.ask('starknet_unsubscribe', result)).result, true)
  assert.deepEqual((await one.ask('starknet_unsubscribe', result)).error, INVALID_ID)
})

test('a subscription that has ended gets no notifications, even in the middle of its backlog', async (t) => {
  const { url, chain, change } = await serveL2(t, 1000)
  const client = await openSubscriber(t, url)
  const { result: live } = await client.ask('starknet_subscribeNewHeads')
  const { result: ended } = await client.ask('starknet_subscribeNewHeads', { block_number: 0 })
  await client.until(({ length }) => length > 0)
  assert.equal((await client.ask('starknet_unsubscribe', ended)).result, true)
  const seen = describe(client, ended)
  assert.deepEqual(seen, added(chain.slice(0, seen.length)))
  change(0, 1)
  await client.until(endsWith(chain.at(-1)!))
  assert.deepEqual(describe(client, ended), seen)
  assert.deepEqual(describe(client, live), added(chain.slice(1001)))
})

test('layer-2 subscriptions are limited as the others are', async (t) => {
  const { DEFAULT_SUBSCRIPTION_LIMITS: limits } = await import('../../../src/rpc/subscriptions/limits.js')
  const { url } = await serveL2(t, 1, { subscriptionLimits: { ...limits, connectionSubscriptions: 2 } })
  const client = await openSubscriber(t, url)
  await client.ask('starknet_subscribeNewHeads')
  const { result } = await client.ask('starknet_subscribeNewHeads')
  const full = { code: -32005, message: 'too many subscriptions: the limit of a connection is 2' }
  assert.deepEqual((await client.ask('starknet_subscribeNewHeads')).error, full)
  await client.ask('starknet_unsubscribe', result)
  assert.equal((await client.ask('starknet_subscribeNewHeads')).error, undefined)
})

test('subscribers replay to the chain through random reorgs, wherever and whenever they begin', async (t) => {
  const random = seededRandom(77)
  const { url, chain, change } = await serveL2(t, 60)
  const followers: { client: SubscribingClient; id: unknown; from: number }[] = []
  const clients = [await openSubscriber(t, url), await openSubscriber(t, url)]
  for (let step = 0; step < 120; step++) {
    const client = clients[random.below(2)]
    if (random.below(3) === 0) {
      const from = random.below(2) === 0 ? undefined : random.below(chain.length)
      const asked = client.ask('starknet_subscribeNewHeads', from === undefined ? 'latest' : { block_number: from })
      if (random.below(2) === 0) change(0, 1)
      const { result } = await asked
      followers.push({ client, id: result, from: from ?? Number.POSITIVE_INFINITY })
    }
    change(random.below(5), random.below(5))
    if (random.below(4) === 0) await new Promise(setImmediate)
  }
  change(0, 1)
  const last = `+ ${formatFelt(chain.at(-1)!.hash!)}`
  for (const { client, id, from } of followers) {
    await client.until(() => describe(client, id).at(-1) === last)
    const seen: string[] = []
    for (const { subscription_id, method, result } of client.notifications) {
      if (subscription_id !== id) continue
      if (method === 'starknet_subscriptionReorg') {
        const { starting_block_number: first, ending_block_hash } = result as Reorg
        if (seen.length > 0) assert.equal(seen.at(-1), ending_block_hash)
        while (seen.length > 0 && numberOf.get(seen.at(-1)!)! >= first) seen.pop()
      } else {
        const { block_hash, block_number, parent_hash } = result as Header
        if (seen.length > 0) assert.equal(seen.at(-1), parent_hash)
        else if (Number.isFinite(from)) assert.ok(block_number <= from)
        numberOf.set(block_hash, block_number)
        seen.push(block_hash)
      }
    }
    const wanted = chain.slice(-seen.length).map(({ hash }) => formatFelt(hash!))
    assert.deepEqual(seen, wanted)
  }
})

const numberOf = new Map<string, number>()
