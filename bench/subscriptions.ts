import { parseArgs } from 'node:util'
import { spawnCairn } from '../test/support/cairn.js'
import { openInventedChain } from '../test/support/chains/inventedChain.js'
import { seededRandom } from '../test/support/random.js'
import { temporaryDirectory } from '../test/support/temporary.js'
import { quantile } from './client.js'
import { describeEnvironment } from './environment.js'
import { type GrowingServer, startGeth } from './gethBlocks.js'
import { readMemory, resetPeak } from './memory.js'
import { startProcess } from './process.js'
import type { BlockArrival, SubscribersPlan } from './processes/subscribers.js'
import { readCpuMs } from './processorTime.js'

/* `npm run bench:subscriptions -- [--subscribers N] [--blocks N] [--logs N] [--geth PATH]`: makes blocks of --logs logs
 * for --subscribers WebSocket subscribers; each gets one log of each block. Does the same with `geth --dev`. Prints a
 * table. */

const { values } = parseArgs({
  options: {
    subscribers: { type: 'string', default: '2000' },
    blocks: { type: 'string', default: '100' },
    logs: { type: 'string', default: '250' },
    geth: { type: 'string' },
  },
})
const [subscribers, blocks, logs] = [values.subscribers, values.blocks, values.logs].map(Number)
/** Not counted: compilers and caches are cold. */
const WARM_UP = 20

const topicOf = (i: number) => `0x${(1 + i).toString(16).padStart(64, '0')}`

console.log(JSON.stringify(describeEnvironment()))
console.log(`${subscribers} subscribers, ${blocks} blocks of ${logs} logs, one for each subscriber\n`)
printRow(
  'server',
  'commit to first ms p50',
  'commit to last ms p50',
  'p99',
  'first to last ms p50',
  'p99',
  'CPU µs a notification',
  'MB before',
  'MB at most',
)
printRow(...Array.from({ length: 9 }, () => '---'))
await measure(await startCairnServer())
if (values.geth !== undefined) await measure(await startGeth(values.geth, logs))

async function measure(server: GrowingServer): Promise<void> {
  const clients = startProcess<'ready' | BlockArrival>(new URL('./processes/subscribers.js', import.meta.url), {
    url: server.socketUrl,
    topics: Array.from({ length: subscribers }, (_, i) => topicOf(i % logs)),
  } satisfies SubscribersPlan)
  try {
    await clients.next()
    const before = readMemory(server.pid)!
    const [toFirst, toLast, spread]: number[][] = [[], [], []]
    let cpuMs = 0
    for (let i = -WARM_UP; i < blocks; i++) {
      if (i === 0) {
        resetPeak(server.pid)
        cpuMs = readCpuMs(server.pid)
      }
      const committedNs = await server.grow()
      const { firstNs, lastNs } = (await clients.next()) as BlockArrival
      if (i < 0) continue
      const since = (ns: string, start: bigint) => Number(BigInt(ns) - start) / 1e6
      spread.push(since(lastNs, BigInt(firstNs)))
      if (committedNs === undefined) continue
      toFirst.push(since(firstNs, committedNs))
      toLast.push(since(lastNs, committedNs))
    }
    const usPerNotification = ((readCpuMs(server.pid) - cpuMs) * 1000) / (blocks * subscribers)
    const shown = [
      [toFirst, 0.5],
      [toLast, 0.5],
      [toLast, 0.99],
      [spread, 0.5],
      [spread, 0.99],
    ] as const
    printRow(
      server.name,
      ...shown.map(([times, share]) => (times.length > 0 ? quantile(times, share).toFixed(1) : '')),
      usPerNotification.toFixed(1),
      before.rssMb.toFixed(0),
      readMemory(server.pid)!.peakRssMb.toFixed(0),
    )
  } finally {
    clients.kill()
    await server.stop()
  }
}

/** `cairn serve` on a database that this process writes. */
async function startCairnServer(): Promise<GrowingServer> {
  const ends: (() => void | Promise<void>)[] = []
  const datadir = temporaryDirectory({ after: (end) => void ends.push(end) })
  const topics = Array.from({ length: logs }, (_, i) => [Buffer.from(topicOf(i).slice(2), 'hex')])
  const address = new Uint8Array(20).fill(7)
  const chain = await openInventedChain(datadir, {
    random: seededRandom(1),
    logsPerBlock: 0,
    inventLogs: () => topics.map((each) => ({ address, topics: each, data: new Uint8Array(32).fill(1) })),
  })
  const { child, ended, waitFor } = spawnCairn([
    'serve',
    '--datadir',
    datadir,
    '--open',
    '--port',
    '0',
    '--log-level',
    'error',
  ])
  const [, url] = await waitFor('stdout', /^ready (\S+)\n/)
  let committedNs = 0n
  chain.head.listen({
    changed: () => {
      committedNs = process.hrtime.bigint()
    },
  })
  return {
    name: 'Cairn',
    socketUrl: url.replace('http', 'ws'),
    pid: child.pid!,
    async grow() {
      chain.change(0, 1)
      return committedNs
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      chain.close()
      for (const end of ends) await end()
    },
  }
}

function printRow(...cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}
