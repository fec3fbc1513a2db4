import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../../../src/server/admission/limits.js'
import { openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { post, request, startTestServer } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { openSubscriber } from '../../support/webSocketClient.js'

async function serveChain(t: TestContext, limits: Partial<ServerLimits>) {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(18), logsPerBlock: 2 })
  t.after(() => chain.close())
  const serverLimits = { ...DEFAULT_SERVER_LIMITS, ...limits }
  const { url } = await startTestServer(t, { datadir, methodsModule: undefined, serverLimits })
  return { chain, url }
}

test('with all connections taken, WebSockets with subscriptions are closed last, the newest first', async (t) => {
  const { chain, url } = await serveChain(t, { maxConnections: 3 })
  const ended: string[] = []
  const open = async (name: string, subscribes: boolean) => {
    const client = await openSubscriber(t, url)
    client.socket.on('error', () => {}).on('close', () => ended.push(name))
    await client.ask(subscribes ? 'eth_subscribe' : 'eth_chainId', ...(subscribes ? ['newHeads'] : []))
    return client
  }
  const [first, second] = [await open('first', true), await open('second', true)]
  const idle = await open('idle', false)
  const idleEnds = once(idle.socket, 'close')
  const third = await open('third', true)
  await idleEnds
  // One that asks something meanwhile stays a subscriber.
  await third.ask('eth_chainId')
  const thirdEnds = once(third.socket, 'close')
  assert.equal((await post(url, request('eth_chainId'))).status, 200)
  await thirdEnds
  // The connection of that request was idle.
  const fourth = await open('fourth', false)
  chain.change(0, 1)
  for (const client of [first, second]) await client.untilHead(chain.blocks[1].block.hash)
  assert.deepEqual(ended, ['idle', 'third'])
  // Without its subscription it is an idle one again.
  const { result: id } = await fourth.ask('eth_subscribe', 'newHeads')
  await fourth.ask('eth_unsubscribe', id)
  const fourthEnds = once(fourth.socket, 'close')
  assert.equal((await post(url, request('eth_chainId'))).status, 200)
  await fourthEnds
  assert.equal(first.socket.readyState, WebSocket.OPEN)
})

test('a WebSocket that answers no ping is closed, and a silent one that does is not', async (t) => {
  const { url } = await serveChain(t, { pingMs: 200 })
  const open = async (autoPong: boolean) => {
    const socket = new WebSocket(url.replace('http', 'ws'), { autoPong })
    t.after(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }
  const [dead, silent] = [await open(false), await open(true)]
  let pings = 0
  silent.on('ping', () => pings++)
  const [code] = await once(dead, 'close')
  assert.equal(code, 1006)
  assert.ok(pings >= 1)
  for (const wanted = pings + 3; pings < wanted; ) await once(silent, 'ping')
  assert.equal(silent.readyState, WebSocket.OPEN)
})
