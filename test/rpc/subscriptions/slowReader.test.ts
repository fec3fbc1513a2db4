import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createPublicClient, type Log, webSocket } from 'viem'
import { formatData } from '../../../src/lib/hex.js'
import { DEFAULT_SERVER_LIMITS } from '../../../src/server/admission/limits.js'
import { ADDRESSES, openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { startTestServer } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { openSubscriber } from '../../support/webSocketClient.js'

test('a subscriber that stops reading is cut off with a reason, and another one gets everything', async (t) => {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(16), logsPerBlock: 300 })
  t.after(() => chain.close())
  const serverLimits = { ...DEFAULT_SERVER_LIMITS, notificationBytes: 300_000 }
  const { url } = await startTestServer(t, { datadir, methodsModule: undefined, serverLimits })
  const [slow, reading] = [await openSubscriber(t, url), await openSubscriber(t, url)]
  await slow.ask('eth_subscribe', 'logs', {})
  const { result: logs } = await reading.ask('eth_subscribe', 'logs', { address: formatData(ADDRESSES[0]) })
  await reading.ask('eth_subscribe', 'newHeads')
  slow.socket.pause()
  // More than the buffers of the system take.
  for (let i = 0; i < 100; i++) {
    chain.change(0, 1)
    await reading.untilHead(chain.blocks[i + 1].block.hash)
  }
  chain.change(0, 1)
  await reading.untilHead(chain.blocks[101].block.hash)
  const [, ...blocks] = chain.blocks.slice(0, 101)
  const address = formatData(ADDRESSES[0])
  const wanted = blocks
    .flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs))
    .filter((log) => formatData(log.address) === address)
  const seen = reading.notifications.filter(
    ({ subscription, result }) => subscription === logs && (result as { blockNumber: string }).blockNumber !== '0x65',
  )
  assert.equal(seen.length, wanted.length)
  slow.socket.resume()
  const [code, reason] = await once(slow.socket, 'close')
  assert.deepEqual([code, String(reason)], [1013, 'notifications were not read; subscribe again'])
  assert.ok(slow.notifications.length > 0)
})

test('viem watches blocks and events over WebSocket and over filters', async (t) => {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(17), logsPerBlock: 4 })
  t.after(() => chain.close())
  const { url } = await startTestServer(t, { datadir, methodsModule: undefined })
  const client = createPublicClient({ transport: webSocket(url.replace('http', 'ws'), { reconnect: false }) })
  const numbers: bigint[] = []
  const logs: Log[] = []
  let look = () => {}
  const until = (isDone: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      look = () => void (isDone() && resolve())
      failed = reject
      look()
    })
  let failed: (error: Error) => void = () => {}
  const onError = (error: Error) => failed(error)
  const count = (from: number) =>
    chain.blocks.slice(from).reduce((sum, { receipts }) => sum + receipts.flatMap((receipt) => receipt.logs).length, 0)
  const stopNumbers = client.watchBlockNumber({
    onBlockNumber: (number) => {
      numbers.push(number)
      look()
    },
    onError,
  })
  const stopLogs = client.watchEvent({
    onLogs: (some) => {
      logs.push(...some)
      look()
    },
    onError,
  })
  const filter = await client.createEventFilter()
  // The subscriptions are made behind viem's back: a request after them is answered after them.
  await client.getChainId()
  chain.change(0, 5)
  await until(() => numbers.length >= 5 && logs.length >= count(1))
  assert.deepEqual(numbers, [1n, 2n, 3n, 4n, 5n])
  assert.equal(logs.length, count(1))
  const polled: Log[] = []
  while (polled.length < count(1)) polled.push(...(await client.getFilterChanges({ filter })))
  assert.deepEqual(
    polled.map(({ blockHash, logIndex }) => [blockHash, logIndex]),
    logs.map(({ blockHash, logIndex }) => [blockHash, logIndex]),
  )
  stopNumbers()
  stopLogs()
  assert.equal(await client.uninstallFilter({ filter }), true)
  const { close } = await client.transport.getRpcClient()
  close()
})
