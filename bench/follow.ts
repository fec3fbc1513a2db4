import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { formatQuantity } from '../src/lib/hex.js'
import { startDefaultCairn } from '../test/support/cairn.js'
import { resultOf } from '../test/support/rpcClient.js'
import { temporaryDirectory } from '../test/support/temporary.js'
import { startAnvilPeer } from '../test/support/upstream/anvil.js'
import { startTraffic } from '../test/support/upstream/followPeer.js'
import { findFoundry } from '../test/support/upstream/foundry.js'
import { openSubscriber } from '../test/support/webSocketClient.js'
import { quantile } from './client.js'
import { describeEnvironment } from './environment.js'
import { printRow, round } from './table.js'

/* `npm run bench:follow -- --json FILE`: follows anvil over WebSocket, and says how long after anvil's own notice of a new block
 * a subscriber of Cairn has the notice of that block, which Cairn then serves. */

const USAGE = `usage: npm run bench:follow -- --json FILE
  --history N        blocks, of a transaction each, that are there before: 5000
  --blocks N         blocks that are measured: 500
  --transactions N   in each of them: 20
  --interval MS      between them: 50`

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    history: { type: 'string', default: '5000' },
    blocks: { type: 'string', default: '500' },
    transactions: { type: 'string', default: '20' },
    interval: { type: 'string', default: '50' },
  },
})
const { json } = values
const [history, blocks, transactions, interval] = [
  values.history,
  values.blocks,
  values.transactions,
  values.interval,
].map(Number)
if (json === undefined || ![history, blocks, transactions, interval].every((n) => Number.isSafeInteger(n) && n > 0)) {
  console.error(USAGE)
  process.exit(2)
}
const closing: (() => void | Promise<void>)[] = []
try {
  const report = await bench({ after: (callback) => void closing.unshift(callback) })
  writeFileSync(
    json,
    JSON.stringify(report, (_key, value) => round(value), 2),
  )
} finally {
  for (const close of closing) await close()
}

async function bench(t: { after(callback: () => void | Promise<void>): void }): Promise<object> {
  const environment = describeEnvironment()
  const path = findFoundry('anvil')
  if (path === undefined) throw new Error('anvil cannot be installed')
  const peer = await startAnvilPeer(t, path, { args: ['--hardfork', 'cancun'] })
  const traffic = await startTraffic(peer)
  await traffic.mine(history)
  const args = ['--datadir', temporaryDirectory(t), '--open', '--network', 'dev', '--upstream', peer.wsUrl]
  const startedMs = performance.now()
  const server = await startDefaultCairn(t, args)
  const head = await resultOf<string>(peer.url, 'eth_blockNumber')
  while ((await resultOf<string>(server.url, 'eth_blockNumber')) !== head) await delay(10)
  const syncMs = performance.now() - startedMs
  await resultOf(peer.url, 'evm_setBlockGasLimit', [formatQuantity(30_000_000)])
  const [anvils, cairns] = await Promise.all([peer.url, server.url].map((url) => watchHeads(t, url)))
  const lagsMs: number[] = []
  for (let n = 0; n < blocks; n++) {
    await peer.send(Array.from({ length: transactions }, () => traffic.make()))
    await resultOf(peer.url, 'evm_mine')
    const { hash } = await resultOf<{ hash: string }>(peer.url, 'eth_getBlockByNumber', ['latest', false])
    const [theirs, ours] = await Promise.all([anvils.of(hash), cairns.of(hash)])
    lagsMs.push(ours - theirs)
    const served = await resultOf<object | null>(server.url, 'eth_getBlockByHash', [hash, false])
    if (served === null) throw new Error(`block ${hash} was announced, and is not served`)
    await delay(interval)
  }
  const [p50Ms, p99Ms] = [0.5, 0.99].map((q) => quantile(lagsMs, q))
  const report = { history, blocks, transactions, syncMs, p50Ms, p99Ms, maxMs: Math.max(...lagsMs) }
  printRow(['blocks', 'transactions in each', 'p50 ms', 'p99 ms', 'max ms'])
  printRow(Array.from({ length: 5 }, () => '---'))
  printRow([blocks, transactions, p50Ms, p99Ms, report.maxMs].map((value) => String(round(value))))
  return { ...report, ...environment }
}

/** When the notices of heads came, by hash. */
async function watchHeads(t: { after(callback: () => void): void }, url: string) {
  const client = await openSubscriber(t, url)
  const timesMs = new Map<string, number>()
  client.socket.on('message', (data) => {
    const hash = /"hash":"(0x[0-9a-f]{64})"/.exec(String(data))?.[1]
    if (hash !== undefined && !timesMs.has(hash)) timesMs.set(hash, performance.now())
  })
  await client.ask('eth_subscribe', 'newHeads')
  return {
    of: async (hash: string): Promise<number> => {
      await client.until((notifications) =>
        notifications.some(({ result }) => (result as { hash: string }).hash === hash),
      )
      return timesMs.get(hash)!
    },
  }
}
