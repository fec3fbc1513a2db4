import { setTimeout as delay } from 'node:timers/promises'
import { formatQuantity } from '../../src/lib/hex.js'
import { startDefaultCairn } from '../../test/support/cairn.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { temporaryDirectory } from '../../test/support/temporary.js'
import { untilBlockNumber } from '../../test/support/until.js'
import { startAnvilPeer } from '../../test/support/upstream/anvil.js'
import { startTraffic } from '../../test/support/upstream/followPeer.js'
import { openSubscriber } from '../../test/support/webSocketClient.js'
import { quantile } from '../lib/client.js'
import { requireAnvil } from '../lib/peers.js'
import { printTable } from '../lib/table.js'
import type { SyncRun } from './options.js'

/** What following anvil took. */
export interface FollowFigures {
  /** Milliseconds from the start of the server until it has the history. */
  readonly syncMs: number
  readonly blocks: number
  readonly transactions: number
  /** From anvil's notice of a block to Cairn's, which serves it then. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Prints the figures as a table. */
export function printFollow({ blocks, transactions, p50Ms, p99Ms, maxMs }: FollowFigures): void {
  printTable(
    ['blocks', 'transactions in each', 'p50 ms', 'p99 ms', 'max ms'],
    [[blocks, transactions, p50Ms, p99Ms, maxMs]],
  )
}

/** Follows anvil over WebSocket. @throws Error when a block is announced and not served */
export async function measureFollow(t: SyncRun): Promise<FollowFigures> {
  const { history, follows: blocks, transactions, interval } = t.values
  const peer = await startAnvilPeer(t, requireAnvil(), { args: ['--hardfork', 'cancun'] })
  const traffic = await startTraffic(peer)
  await traffic.mine(history)
  const args = ['--datadir', temporaryDirectory(t), '--open', '--network', 'dev', '--upstream', peer.wsUrl]
  const startedMs = performance.now()
  const server = await startDefaultCairn(t, args)
  const head = await resultOf<string>(peer.url, 'eth_blockNumber')
  await untilBlockNumber(server, Number(head))
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
  return { blocks, transactions, syncMs, p50Ms, p99Ms, maxMs: Math.max(...lagsMs) }
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
