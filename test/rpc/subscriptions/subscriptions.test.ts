import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { ServingOptions } from '../../../src/cli/serving/options.js'
import { formatData } from '../../../src/lib/hex.js'
import { ListenerMemory } from '../../../src/rpc/subscriptions/listenerMemory.js'
import { openInventedChain } from '../../support/chains/inventedChain.js'
import { checkManySubscribers, type LogObject, logKeys } from '../../support/manySubscribers.js'
import { seededRandom } from '../../support/random.js'
import { type Answer, post, request, startTestServer } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { openSubscriber } from '../../support/webSocketClient.js'

/** A server of Cairn's methods over an invented chain that the test changes. */
async function serveChain(t: TestContext, options: Partial<ServingOptions> = {}, logsPerBlock = 6) {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(14), logsPerBlock })
  chain.change(0, 3)
  const serving = await startTestServer(t, { datadir, methodsModule: undefined, ...options })
  t.after(() => chain.close())
  return { chain, ...serving, datadir }
}

const SUBSCRIBERS = THOROUGH ? 200 : 60

test('subscribers see a reorg as geth reports it: removed logs, then each new head with its logs', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const { result: heads } = await client.ask('eth_subscribe', 'newHeads')
  const { result: logs } = await client.ask('eth_subscribe', 'logs', {})
  assert.match(heads as string, /^0x[0-9a-f]{32}$/)
  chain.change(0, 3)
  const old = chain.blocks.slice(4)
  await client.untilHead(old[2].block.hash)
  chain.change(2, 3)
  await client.untilHead(chain.blocks.at(-1)!.block.hash)
  chain.change(0, 1)
  await client.untilHead(chain.blocks.at(-1)!.block.hash)
  const seen = client.notifications.map(({ subscription, result }) => {
    if (subscription === heads) return `head ${(result as { hash: string }).hash}`
    const log = result as LogObject
    assert.equal(subscription, logs)
    return `${log.removed ? '-' : '+'} ${log.blockHash} ${log.logIndex}`
  })
  const ofBlock = (sign: string, { block, receipts }: (typeof old)[0]) =>
    receipts.flatMap((receipt) => receipt.logs).map((_, i) => `${sign} ${formatData(block.hash)} 0x${i.toString(16)}`)
  const added = (each: (typeof old)[0]) => [`head ${formatData(each.block.hash)}`, ...ofBlock('+', each)]
  // The logs of the last block come after its head.
  const wanted = [
    ...old.flatMap(added),
    ...old.slice(1).flatMap((each) => ofBlock('-', each)),
    ...chain.blocks.slice(5).flatMap(added),
  ]
  await client.until(() => client.notifications.length >= wanted.length)
  for (const { subscription, result } of client.notifications.slice(seen.length)) {
    const log = result as LogObject
    assert.equal(subscription, logs)
    seen.push(`+ ${log.blockHash} ${log.logIndex}`)
  }
  assert.deepEqual(seen, wanted)
})

test('heads and logs are those that eth_getBlockByHash and eth_getLogs give', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const { result: heads } = await client.ask('eth_subscribe', 'newHeads')
  await client.ask('eth_subscribe', 'logs')
  chain.change(0, 2)
  const [first, last] = chain.blocks.slice(-2)
  const count = 2 + logKeys(chain, 3).length
  await client.until(({ length }) => length === count)
  const { result: blocks } = (await client.ask('eth_getBlockByHash', formatData(first.block.hash), false)) as {
    result: Record<string, unknown>
  }
  const head = client.notifications[0].result as Record<string, unknown>
  for (const name of ['size', 'totalDifficulty', 'transactions', 'uncles']) delete blocks[name]
  // As geth writes members of forks that are not active.
  const later = ['withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'].concat(
    'blockAccessListHash',
    'slotNumber',
  )
  assert.deepEqual(head, { ...blocks, ...Object.fromEntries(later.map((name) => [name, null])) })
  const { result: logs } = await client.ask('eth_getLogs', { fromBlock: '0x4', toBlock: '0x5' })
  const seen = client.notifications.filter(({ subscription }) => subscription !== heads).map(({ result }) => result)
  assert.deepEqual(seen, logs)
  assert.equal(last.block.header.number, 5)
})

test('a subscription begins with the first block after its response, however fast blocks come', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const growing = setInterval(() => chain.change(0, 1), 1)
  t.after(() => clearInterval(growing))
  for (let i = 0; i < 60; i++) {
    if (i % 2) chain.change(0, 3)
    const answers = await Promise.all([
      client.ask('eth_blockNumber'),
      client.ask('eth_subscribe', 'newHeads'),
      client.ask('eth_blockNumber'),
    ])
    const [before, id, after] = answers.map(({ result }) => result as string)
    const own = () => client.notifications.filter(({ subscription }) => subscription === id)
    await client.until(() => own().length >= 3)
    const numbers = own().map(({ result }) => Number((result as { number: string }).number))
    assert.ok(numbers[0] > Number(before), `${numbers[0]} was committed before the request, at ${Number(before)}`)
    assert.ok(numbers[0] <= Number(after) + 1, `blocks from ${Number(after) + 1} to ${numbers[0] - 1} were left out`)
    assert.deepEqual(
      numbers.slice(0, 3),
      [0, 1, 2].map((add) => numbers[0] + add),
    )
    await client.ask('eth_unsubscribe', id)
    client.notifications.length = 0
  }
})

test(`${SUBSCRIBERS} subscribers with filters of every form replay to the logs of the chain through random reorgs`, async (t) => {
  await checkManySubscribers(t, { subscribers: SUBSCRIBERS, blocks: 100, reorgs: 20, logsPerBlock: 6 })
})

test('over HTTP there are no subscriptions, and unknown ones are named', async (t) => {
  const { url } = await serveChain(t)
  const error = async (method: string, ...params: unknown[]) => (await post(url, request(method, ...params))).json.error
  assert.deepEqual(await error('eth_subscribe', 'newHeads'), { code: -32601, message: 'notifications not supported' })
  assert.deepEqual(await error('eth_unsubscribe', '0x1'), { code: -32000, message: 'subscription not found' })
  const { ask } = await openSubscriber(t, url)
  const refusal = async (...params: unknown[]) => (await ask('eth_subscribe', ...params)).error
  assert.deepEqual(await refusal('heads'), { code: -32601, message: 'no "heads" subscription in eth namespace' })
  assert.equal((await refusal('logs', { fromBlock: '0x5', toBlock: '0x4' }))?.message, 'invalid block range params')
  assert.equal((await refusal('logs', { fromBlock: 'finalized' }))?.message, 'invalid block range params')
  assert.match((await refusal('logs', { address: '0x1' }))!.message, /^invalid argument 1: options\.address/)
  assert.deepEqual((await ask('eth_unsubscribe', '0x1')).error, { code: -32000, message: 'subscription not found' })
})

test('receipts of each new block come in one array, of all transactions or of those that are named', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const named = new Uint8Array(32).fill(0x42)
  const { result: all } = await client.ask('eth_subscribe', 'transactionReceipts')
  const { result: one } = await client.ask('eth_subscribe', 'transactionReceipts', {
    transactionHashes: [formatData(named)],
  })
  const { result: none } = await client.ask('eth_subscribe', 'transactionReceipts', {
    transactionHashes: [`0x${'11'.repeat(32)}`],
  })
  const of = (id: unknown) => client.notifications.filter(({ subscription }) => subscription === id)
  chain.change(0, 1)
  await client.until(() => of(all).length === 1)
  chain.nameNextTransaction(named)
  chain.change(1, 2)
  await client.until(() => of(all).length === 3 && of(one).length === 1)
  const receipts = async (number: string) => (await client.ask('eth_getBlockReceipts', number)).result as unknown[]
  const [, ...seen] = of(all).map(({ result }) => result)
  assert.deepEqual(seen, [await receipts('0x4'), await receipts('0x5')])
  assert.deepEqual(of(one)[0].result, [(await receipts('0x4'))[0]])
  assert.deepEqual(of(none), [])
  const tooMany = { transactionHashes: Array.from({ length: 201 }, () => formatData(named)) }
  const message = 'exceed max number of transaction hashes allowed per transactionReceipts subscription'
  assert.deepEqual((await client.ask('eth_subscribe', 'transactionReceipts', tooMany)).error, { code: -32602, message })
  const unknown = (await client.ask('eth_subscribe', 'transactionReceipts', { hashes: [] })).error
  assert.match(unknown!.message, /options: unknown member "hashes"/)
})

test('bounds and a block hash limit what a subscription to logs gets', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const { result: bounded } = await client.ask('eth_subscribe', 'logs', { fromBlock: '0x5', toBlock: '0x6' })
  const { result: none } = await client.ask('eth_subscribe', 'logs', { blockHash: `0x${'11'.repeat(32)}` })
  const { result: heads } = await client.ask('eth_subscribe', 'newHeads')
  chain.change(0, 5)
  await client.untilHead(chain.blocks.at(-1)!.block.hash)
  const of = (id: unknown) => client.notifications.filter(({ subscription }) => subscription === id)
  assert.equal(of(heads).length, 5)
  assert.deepEqual(
    of(bounded).map(({ result }) => (result as LogObject).blockNumber),
    [5, 6].flatMap((number) => chain.blocks[number].receipts.flatMap(({ logs }) => logs.map(() => `0x${number}`))),
  )
  assert.deepEqual(of(none), [])
})

test('eth_unsubscribe ends a subscription, and a batch gets its answer before any notification', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  const [made, , gone] = (await client.send([
    request('eth_subscribe', 'newHeads'),
    request('eth_subscribe', 'newPendingTransactions', true),
    request('eth_subscribe', 'syncing'),
  ])) as Answer[]
  assert.equal(client.beforeAnswer(), 0)
  await client.until(({ length }) => length === 1)
  assert.deepEqual(client.notifications, [{ method: 'eth_subscription', subscription: gone.result, result: false }])
  chain.change(0, 1)
  await client.until(({ length }) => length === 2)
  assert.equal((await client.ask('eth_unsubscribe', made.result)).result, true)
  const { result: next } = await client.ask('eth_subscribe', 'newHeads')
  chain.change(0, 1)
  await client.until(({ length }) => length === 3)
  assert.equal(client.notifications[2].subscription, next)
  assert.equal((await client.ask('eth_unsubscribe', made.result)).error?.message, 'subscription not found')
})

test('a subscription belongs to its connection', async (t) => {
  const { url } = await serveChain(t)
  const [one, other] = [await openSubscriber(t, url), await openSubscriber(t, url)]
  const { result } = await one.ask('eth_subscribe', 'newHeads')
  assert.equal((await other.ask('eth_unsubscribe', result)).error?.message, 'subscription not found')
  assert.equal((await one.ask('eth_unsubscribe', result)).result, true)
})

test('subscriptions are limited by connection and by client, and those of closed connections do not count', async (t) => {
  const { DEFAULT_SUBSCRIPTION_LIMITS: limits } = await import('../../../src/rpc/subscriptions/limits.js')
  const subscriptionLimits = { ...limits, connectionSubscriptions: 2, clientSubscriptions: 3 }
  const { url } = await serveChain(t, { subscriptionLimits })
  const [one, other] = [await openSubscriber(t, url), await openSubscriber(t, url)]
  const subscribe = async (client: typeof one) => (await client.ask('eth_subscribe', 'newHeads')).error
  assert.equal(await subscribe(one), undefined)
  assert.equal(await subscribe(one), undefined)
  assert.deepEqual(await subscribe(one), {
    code: -32005,
    message: 'too many subscriptions: the limit of a connection is 2',
  })
  assert.equal(await subscribe(other), undefined)
  assert.deepEqual(await subscribe(other), { code: -32005, message: 'too many subscriptions: the limit is 3' })
  one.socket.close()
  for (;;) if ((await subscribe(other)) === undefined) break
})

test('subscriptions and filters of a client share one bound in bytes, which a closed connection gives back', async (t) => {
  const { DEFAULT_SUBSCRIPTION_LIMITS: limits } = await import('../../../src/rpc/subscriptions/limits.js')
  const { url } = await serveChain(t, { subscriptionLimits: { ...limits, filterBytes: 8_000_000 } })
  const topics = [Array.from({ length: 5_000 }, (_, i) => `0x${i.toString(16).padStart(64, '0')}`)]
  const [one, other] = [await openSubscriber(t, url), await openSubscriber(t, url)]
  const ids: unknown[] = []
  let refused: Answer['error']
  while (refused === undefined && ids.length < 20) {
    const { result, error } = await one.ask('eth_subscribe', 'logs', { topics })
    refused = error
    if (result !== undefined) ids.push(result)
  }
  assert.equal(ids.length, 5) // of 1.5 MB each
  const message = 'too many subscriptions: there is no memory for another'
  assert.deepEqual(refused, { code: -32005, message })
  assert.equal((await other.ask('eth_subscribe', 'logs', { topics })).error?.message, message)
  const noFilter = 'too many filters: there is no memory for another'
  assert.equal((await other.ask('eth_newFilter', { topics })).error?.message, noFilter)
  assert.equal((await other.ask('eth_subscribe', 'newHeads')).error, undefined)
  assert.equal((await one.ask('eth_unsubscribe', ids[0])).result, true)
  assert.equal((await one.ask('eth_subscribe', 'logs', { topics })).error, undefined)
  one.socket.close()
  for (;;) if ((await other.ask('eth_subscribe', 'logs', { topics })).error === undefined) break
})

test('subscriptions of all clients together have a bound in bytes', () => {
  const memory = new ListenerMemory({ filterBytes: 10, totalFilterBytes: 25 })
  for (const owner of [1, 'two']) assert.equal(memory.resize(owner, 10), true)
  assert.equal(memory.resize(3, 6), false)
  memory.resize(3, -6)
  assert.equal(memory.resize(3, 5), true)
  assert.equal(memory.resize(1, 1), false)
  assert.equal(memory.sizeBytes(), 26)
})

test('a block that is committed when the client has the response is notified', async (t) => {
  const { chain, url } = await serveChain(t)
  const client = await openSubscriber(t, url)
  let committed = 0
  const { write } = Socket.prototype
  // The server is in this process: what it writes is at the client's.
  t.mock.method(Socket.prototype, 'write', function (this: Socket, ...args: Parameters<typeof write>) {
    const isWritten = write.apply(this, args)
    if (/^\{"jsonrpc":"2.0","id":\d+,"result":"0x[0-9a-f]{32}"\}$/.test(String(args[0]))) {
      chain.change(0, 1)
      committed++
    }
    return isWritten
  })
  for (const topic of ['newHeads', 'logs']) await client.ask('eth_subscribe', topic)
  assert.equal(committed, 2)
  const newest = chain.blocks.slice(-2).map(({ block }) => block.hash)
  await client.untilHead(newest[1])
  const [first, second] = newest.map(formatData)
  const isHead = ({ result }: { result: unknown }) => !(result as LogObject).blockHash
  const heads = client.notifications.filter(isHead).map(({ result }) => (result as { hash: string }).hash)
  assert.deepEqual(heads, [first, second])
  await client.until((all) => all.some((each) => !isHead(each)))
  for (const { result } of client.notifications.filter((each) => !isHead(each))) {
    assert.equal((result as LogObject).blockHash, second)
  }
})
