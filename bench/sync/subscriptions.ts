import { spawnCairn } from '../../test/support/cairn.js'
import { openInventedChain } from '../../test/support/chains/inventedChain.js'
import { seededRandom } from '../../test/support/random.js'
import { temporaryDirectory } from '../../test/support/temporary.js'
import { quantile } from '../lib/client.js'
import { readMemory, resetPeak } from '../lib/memory.js'
import { startProcess } from '../lib/process.js'
import { readCpuMs } from '../lib/processorTime.js'
import { printTable } from '../lib/table.js'
import { type GrowingServer, startGeth } from './gethBlocks.js'
import type { SyncRun } from './options.js'
import type { BlockArrival, SubscribersPlan } from './processes/subscribers.js'

/** Notifications of logs to many subscribers, in milliseconds; those from the commit where that is known. */
export interface SubscriptionFigures {
  readonly server: string
  readonly commitToFirst: Quantiles | null
  readonly commitToLast: Quantiles | null
  readonly firstToLast: Quantiles
  /** Processor time of the server. */
  readonly usPerNotification: number
  readonly rssMb: number
  readonly peakRssMb: number
}

interface Quantiles {
  readonly p50: number
  readonly p99: number
}

/** Not counted: compilers and caches are cold. */
const WARM_UP = 20

const topicOf = (i: number) => `0x${(1 + i).toString(16).padStart(64, '0')}`

/** Makes blocks of `logs` logs for WebSocket subscribers, who get one log of each block; with `geth`, does the
 *  same with `geth --dev`. */
export async function measureSubscriptions({ values }: SyncRun): Promise<SubscriptionFigures[]> {
  const { logs, geth } = values
  const figures = [await measure(await startCairnServer(logs), values)]
  if (geth !== undefined) figures.push(await measure(await startGeth(geth, logs), values))
  return figures
}

/** Prints the figures as a table. */
export function printSubscriptions(figures: readonly SubscriptionFigures[]): void {
  printTable(
    [
      ...['server', 'commit to first ms p50', 'commit to last ms p50', 'p99', 'first to last ms p50', 'p99'],
      ...['CPU µs a notification', 'MB before', 'MB at most'],
    ],
    figures.map(({ server, commitToFirst, commitToLast, firstToLast, ...rest }) => [
      ...[server, commitToFirst?.p50, commitToLast?.p50, commitToLast?.p99, firstToLast.p50, firstToLast.p99],
      ...[rest.usPerNotification, rest.rssMb, rest.peakRssMb],
    ]),
  )
}

async function measure(server: GrowingServer, values: SyncRun['values']): Promise<SubscriptionFigures> {
  const { subscribers, logs, 'subscriber-blocks': blocks } = values
  const clients = startProcess<'ready' | BlockArrival>(new URL('./processes/subscribers.js', import.meta.url), {
    url: server.socketUrl,
    topics: Array.from({ length: subscribers }, (_, i) => topicOf(i % logs)),
  } satisfies SubscribersPlan)
  try {
    await clients.next()
    const { rssMb } = readMemory(server.pid)!
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
    return {
      server: server.name,
      commitToFirst: toFirst.length > 0 ? quantilesOf(toFirst) : null,
      commitToLast: toLast.length > 0 ? quantilesOf(toLast) : null,
      firstToLast: quantilesOf(spread),
      usPerNotification: ((readCpuMs(server.pid) - cpuMs) * 1000) / (blocks * subscribers),
      rssMb,
      peakRssMb: readMemory(server.pid)!.peakRssMb,
    }
  } finally {
    clients.kill()
    await server.stop()
  }
}

const quantilesOf = (times: readonly number[]): Quantiles => ({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) })

/** `cairn serve` on a database that this process writes. */
async function startCairnServer(logs: number): Promise<GrowingServer> {
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
