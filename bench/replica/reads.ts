import { setTimeout as sleep } from 'node:timers/promises'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { startCairn } from '../../test/support/cairn.js'
import { growBranch, LOGGED, LOGGER, openBranches } from '../../test/support/chains/branches.js'
import { sourceOf } from '../../test/support/chains/fixture.js'
import { type LoadBalancer, SKIP_HAPROXY, startHaproxy } from '../../test/support/nats/haproxy.js'
import { seededRandom } from '../../test/support/random.js'
import { temporaryDirectory } from '../../test/support/temporary.js'
import { startProcess } from '../lib/process.js'
import { readCpuMs } from '../lib/processorTime.js'
import { printTable } from '../lib/table.js'
import type { ReplicaRun } from './options.js'
import type { ClientsPlan, ClientsResult } from './processes/clients.js'
import { type Asked, KINDS, type Kind } from './requests.js'

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

/** Processor time per second without reads, and of the runs. */
export interface ReadFigures {
  readonly idle: Awaited<ReturnType<typeof measureIdle>>
  readonly runs: readonly RunCost[]
}

/** Reads through HAProxy, with the shipped configuration, from 1, 2 and 3 replicas over HTTP, while blocks arrive. All
 *  processes share the cores of one machine, so the figure is the processor time of an answer in each process; what
 *  more machines give is projected from it. A quarter of the clients ask for the writer's newest block.
 *  @throws Error without HAProxy */
export async function measureReads(run: ReplicaRun): Promise<ReadFigures> {
  if (SKIP_HAPROXY) throw new Error(SKIP_HAPROXY)
  const { seconds, 'block-ms': blockMs, 'read-blocks': blocks } = run.values
  const random = seededRandom(18)
  // Without reads, four with all kinds of requests, one for each kind; each begins and ends within a second.
  const later = Math.ceil(((5 + KINDS.length) * (seconds + 1) * 1000) / blockMs)
  const all = await growBranch(temporaryDirectory(run), { trunk: [], count: blocks + later, random })
  const [first, arriving] = [all.slice(0, blocks), all.slice(blocks)]
  const service = await startService(run, first)
  const asked: Asked = {
    logger: formatData(LOGGER),
    topic: formatData(LOGGED),
    transactions: first.flatMap((block) => block.transactions.map(({ hash }) => formatData(hash))),
    head: blocks,
  }
  const reads = { asked, arriving, ...run.values }
  const idle = await measureIdle(service, arriving, run.values)
  await measure(service, { ...reads, count: 3, kind: 'mix' }) // not counted: compilers and caches are cold
  const runs: RunCost[] = []
  for (const count of [1, 2, 3]) runs.push(await measure(service, { ...reads, count, kind: 'mix' }))
  for (const kind of KINDS) runs.push(await measure(service, { ...reads, count: 3, kind }))
  return { idle, runs }
}

type Service = Awaited<ReturnType<typeof startService>>

async function startService(scope: ReplicaRun, first: readonly Block[]) {
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

interface Arrivals {
  readonly arriving: Block[]
  readonly 'block-ms': number
  onBlock(number: number): void
}

/** Gives the writer a block each `block-ms` until it is stopped. */
function startBlocks({ append }: Service, { arriving, 'block-ms': blockMs, onBlock }: Arrivals) {
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
async function measureIdle(service: Service, arriving: Block[], values: ReplicaRun['values']) {
  const { seconds } = values
  const before = readCpu(service, service.balancers[2], 3)
  const stop = startBlocks(service, { arriving, 'block-ms': values['block-ms'], onBlock() {} })
  await sleep(seconds * 1000)
  await stop()
  const after = readCpu(service, service.balancers[2], 3)
  return {
    replicaMs: (after.replicaMs - before.replicaMs) / 3 / seconds,
    haproxyMs: (after.haproxyMs - before.haproxyMs) / seconds,
    writerMs: (after.writerMs - before.writerMs) / seconds,
  }
}

interface Reads {
  readonly count: number
  readonly kind: Kind | 'mix'
  readonly asked: Asked
  readonly arriving: Block[]
  readonly seconds: number
  readonly connections: number
  readonly 'block-ms': number
}

async function measure(
  service: Service,
  { count, kind, asked, arriving, seconds, connections, 'block-ms': blockMs }: Reads,
): Promise<RunCost> {
  const balancer = service.balancers[count - 1]
  const retriedOf = async () => (await balancer.counts()).reduce((sum, { retried }) => sum + retried, 0)
  const plan: ClientsPlan = { url: balancer.url, asked, connections, seconds, only: kind === 'mix' ? undefined : kind }
  const retried = await retriedOf()
  const before = readCpu(service, balancer, count)
  const clients = startProcess<ClientsResult>(new URL('./processes/clients.js', import.meta.url), plan)
  const stop = startBlocks(service, { arriving, 'block-ms': blockMs, onBlock: (number) => clients.send(number) })
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

/** Prints the figures as a table. */
export function printReads({ idle, runs }: ReadFigures): void {
  console.log('without reads, ms of processor time per second:')
  printTable(Object.keys(idle), [Object.values(idle)])
  printTable(
    [
      ...['replicas', 'requests', 'answers/s', 'replica ms', 'haproxy ms', 'answers/s of a replica core'],
      ...['of a haproxy core', 'least block: answers', 'below', 'refused', 'retried', 'p50 ms', 'p99 ms'],
    ],
    runs.map(({ replicas, kind, clients, replicaMs, haproxyMs, retried }) => {
      const { answers, least, seconds } = clients
      // What applying blocks takes is not the answers'.
      const ofAnswer = Math.max(0, replicaMs - idle.replicaMs * replicas * seconds) / answers
      const ofBalancer = haproxyMs / answers
      return [
        ...[replicas, kind, answers / seconds, ofAnswer, ofBalancer, 1000 / ofAnswer, 1000 / ofBalancer],
        ...[least.answers, least.below, least.refused, retried, least.p50Ms, least.p99Ms],
      ]
    }),
  )
  console.log(`failed answers: ${runs.reduce((sum, { clients }) => sum + clients.failed, 0)}`)
}
