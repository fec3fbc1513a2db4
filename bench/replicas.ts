import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Block } from '../src/chain/eth/types.js'
import { formatData } from '../src/lib/hex.js'
import { noProgress } from '../src/lib/progress.js'
import { importBlocks } from '../src/sync/pipeline.js'
import { startCairn } from '../test/support/cairn.js'
import { growBranch, LOGGED, LOGGER, openBranches } from '../test/support/chains/branches.js'
import { sourceOf } from '../test/support/chains/fixture.js'
import { type LoadBalancer, SKIP_HAPROXY, startHaproxy } from '../test/support/nats/haproxy.js'
import { seededRandom } from '../test/support/random.js'
import { temporaryDirectory } from '../test/support/temporary.js'
import { describeEnvironment } from './environment.js'
import { startProcess } from './process.js'
import { readCpuMs } from './processorTime.js'
import type { ClientsPlan, ClientsResult } from './replicas/clients.js'
import { type Asked, KINDS, type Kind } from './replicas/requests.js'
import { printRow, round } from './table.js'

/* `npm run bench:replicas -- --json FILE`: reads through HAProxy, with the shipped configuration, from 1, 2 and 3 replicas over HTTP, while
 * blocks arrive. All processes share the cores of one machine, so the figure is the processor time of an answer in each
 * process; what more machines give is projected from it. A quarter of the clients ask for the writer's newest block. */

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    seconds: { type: 'string', default: '15' },
    connections: { type: 'string', default: '8' },
    'block-ms': { type: 'string', default: '500' },
    /** Before the measurement. */
    blocks: { type: 'string', default: '150' },
  },
})
const [seconds, connections, blockMs, blocks] = [
  values.seconds,
  values.connections,
  values['block-ms'],
  values.blocks,
].map(Number)
if (SKIP_HAPROXY) {
  console.error(SKIP_HAPROXY)
  process.exit(2)
}

/** Processor time of one run, in ms. */
interface RunCost {
  readonly replicas: number
  readonly kind: Kind | 'mix'
  readonly clients: ClientsResult
  readonly blocks: number
  readonly replicaMs: number
  readonly haproxyMs: number
  readonly writerMs: number
  /** Requests that HAProxy tried on another replica. */
  readonly retried: number
}

const ends: (() => void | Promise<void>)[] = []
const scope = { after: (end: () => void | Promise<void>) => void ends.unshift(end) }
try {
  await bench()
} finally {
  for (const end of ends) await end()
}

async function bench(): Promise<void> {
  const environment = describeEnvironment()
  const random = seededRandom(18)
  // Without reads, four with all kinds of requests, one for each kind; each begins and ends within a second.
  const later = Math.ceil(((5 + KINDS.length) * (seconds + 1) * 1000) / blockMs)
  const all = await growBranch(temporaryDirectory(scope), { trunk: [], count: blocks + later, random })
  const [first, arriving] = [all.slice(0, blocks), all.slice(blocks)]
  const service = await startService(first)
  const asked: Asked = {
    logger: formatData(LOGGER),
    topic: formatData(LOGGED),
    transactions: first.flatMap((block) => block.transactions.map(({ hash }) => formatData(hash))),
    head: blocks,
  }
  const idle = await measureIdle(service, arriving, seconds)
  console.log(`without reads, ms of processor time per second: ${JSON.stringify(idle, (_key, each) => round(each))}`)
  await measure(service, { count: 3, kind: 'mix', asked, arriving }) // not counted: compilers and caches are cold
  const runs: RunCost[] = []
  for (const count of [1, 2, 3]) runs.push(await measure(service, { count, kind: 'mix', asked, arriving }))
  for (const kind of KINDS) runs.push(await measure(service, { count: 3, kind, asked, arriving }))
  print(runs, idle)
  if (values.json !== undefined) {
    const report = { ...environment, seconds, connections, blockMs, idle, runs }
    writeFileSync(values.json, `${JSON.stringify(report, (_key, each) => round(each), 2)}\n`)
  }
}

type Service = Awaited<ReturnType<typeof startService>>

async function startService(first: readonly Block[]) {
  const datadir = temporaryDirectory(scope)
  const { db, chain } = await openBranches(datadir)
  scope.after(() => void db.close())
  chain.head.finalize({ safe: 0, finalized: 0 })
  const append = (added: readonly Block[]) => importBlocks(chain, sourceOf(added), { progress: noProgress })
  await append(first)
  const writer = await startCairn(scope, ['--datadir', datadir, '--open', '--replication'])
  const startReplica = async () => {
    const own = temporaryDirectory(scope)
    const opened = await openBranches(own)
    opened.db.close()
    return startCairn(scope, ['--datadir', own, '--open', '--replica', writer.url, '--min-block-wait', '250'])
  }
  const replicas = await Promise.all([startReplica(), startReplica(), startReplica()])
  const hosts = replicas.map(({ url }) => new URL(url).host)
  const balancers: LoadBalancer[] = []
  for (const count of [1, 2, 3]) {
    const balancer = await startHaproxy(scope, { replicas: hosts.slice(0, count), writer: new URL(writer.url).host })
    await balancer.untilRotation(['r1', 'r2', 'r3'].slice(0, count))
    balancers.push(balancer)
  }
  return { append, writer, replicas, balancers }
}

/** Gives the writer a block each `blockMs` until it is stopped. */
function startBlocks({ append }: Service, arriving: Block[], onBlock: (number: number) => void) {
  let given = 0
  let isOver = false
  const run = async () => {
    while (!isOver) {
      const block = arriving.shift()
      if (block === undefined) throw new Error('no blocks left: clients took longer than --seconds')
      await append([block])
      given++
      onBlock(block.header.number)
      await sleep(blockMs)
    }
    return given
  }
  const running = run()
  return async () => {
    isOver = true
    return running
  }
}

function readCpu({ writer, replicas }: Service, { pid }: LoadBalancer, count: number) {
  const replicaMs = replicas.slice(0, count).map(({ running }) => readCpuMs(running.child.pid!))
  return {
    replicaMs: replicaMs.reduce((sum, each) => sum + each, 0),
    haproxyMs: readCpuMs(pid),
    writerMs: readCpuMs(writer.running.child.pid!),
  }
}

/** Processor time per second of a replica, of HAProxy and of the writer while blocks arrive and no client asks. */
async function measureIdle(service: Service, arriving: Block[], forSeconds: number) {
  const before = readCpu(service, service.balancers[2], 3)
  const stop = startBlocks(service, arriving, () => {})
  await sleep(forSeconds * 1000)
  await stop()
  const after = readCpu(service, service.balancers[2], 3)
  return {
    replicaMs: (after.replicaMs - before.replicaMs) / 3 / forSeconds,
    haproxyMs: (after.haproxyMs - before.haproxyMs) / forSeconds,
    writerMs: (after.writerMs - before.writerMs) / forSeconds,
  }
}

async function measure(
  service: Service,
  { count, kind, asked, arriving }: { count: number; kind: Kind | 'mix'; asked: Asked; arriving: Block[] },
): Promise<RunCost> {
  const balancer = service.balancers[count - 1]
  const retriedOf = async () => (await balancer.counts()).reduce((sum, { retried }) => sum + retried, 0)
  const plan: ClientsPlan = { url: balancer.url, asked, connections, seconds, only: kind === 'mix' ? undefined : kind }
  const retried = await retriedOf()
  const before = readCpu(service, balancer, count)
  const clients = startProcess<ClientsResult>(new URL('./replicas/clients.js', import.meta.url), plan)
  const stop = startBlocks(service, arriving, (number) => clients.send(number))
  const result = await clients.next()
  const given = await stop()
  const after = readCpu(service, balancer, count)
  return {
    ...{ replicas: count, kind, clients: result, blocks: given },
    replicaMs: after.replicaMs - before.replicaMs,
    haproxyMs: after.haproxyMs - before.haproxyMs,
    writerMs: after.writerMs - before.writerMs,
    retried: (await retriedOf()) - retried,
  }
}

function print(runs: readonly RunCost[], idle: { replicaMs: number }): void {
  printRow([
    ...[
      'replicas',
      'requests',
      'answers/s',
      'replica ms',
      'haproxy ms',
      'answers/s of a replica core',
      'of a haproxy core',
    ],
    ...['least block: answers', 'below', 'refused', 'retried', 'p50 ms', 'p99 ms'],
  ])
  printRow(Array.from({ length: 13 }, () => '---'))
  for (const { replicas, kind, clients, replicaMs, haproxyMs, retried } of runs) {
    const { answers, least } = clients
    // What applying blocks takes is not the answers'.
    const ofAnswer = Math.max(0, replicaMs - idle.replicaMs * replicas * clients.seconds) / answers
    const ofBalancer = haproxyMs / answers
    printRow(
      [
        ...[replicas, kind, answers / clients.seconds, ofAnswer, ofBalancer, 1000 / ofAnswer, 1000 / ofBalancer],
        ...[least.answers, least.below, least.refused, retried, least.p50Ms, least.p99Ms],
      ].map((each) => String(round(each))),
    )
  }
  const failed = runs.reduce((sum, { clients }) => sum + clients.failed, 0)
  console.log(`failed answers: ${failed}`)
}
