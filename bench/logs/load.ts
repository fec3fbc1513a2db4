import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchClient, countResults, TOO_MANY, toFilter } from '../lib/client.js'
import { type Memory, readMainThread, readMemory, resetPeak } from '../lib/memory.js'
import { type BenchProcess, startProcess } from '../lib/process.js'
import type { HashOf } from './measure.js'
import type { ShapeParameters } from './parameters.js'
import {
  type ClientsPlan,
  type ClientsResult,
  type ProbePlan,
  type ProbeResult,
  type Sample,
  variantsOf,
} from './plans.js'
import type { Question, Shape } from './shapes.js'
import type { LogStore } from './store.js'

/** What came of many clients at once. */
export interface LoadResult extends Omit<ClientsResult, 'samples'> {
  clients: number
  /** eth_blockNumber, asked every 5 ms by a process of its own: before, on an idle server, and throughout. */
  blockNumberAtRest: ProbeResult
  blockNumber: ProbeResult
  /** How long the server's main thread ran, and how long it waited for a core that others had: a wait that the times of
   *  eth_blockNumber have in them. */
  mainThread: { ranMs: number; waitedForCoreMs: number } | null
  memory: { start: Memory; end: Memory; peakAnonymousMb: number } | null
  /** After `idleSeconds` without requests. */
  idleMemory: Memory | null
  /** Answers that were counted again afterwards, in another store or, without one, by asking the server for the two
   *  halves of the range. */
  checked: { answers: number; by: string; wrong: Sample[] }
}

/** What the load is made with. */
export interface LoadPlan {
  url: string
  /** Process of the server. */
  pid: number
  seed: number
  parameters: ShapeParameters
  shapes: readonly Shape[]
  hashOf: HashOf
  clients: number
  seconds: number
  idleSeconds: number
}

const PROBE_MS = 5
const REST_MS = 2_000
const MEMORY_MS = 100
// Counting again takes the ordinary design seconds for some shapes.
const CHECK_BUDGET_MS = 60_000

/** Many clients with mixed shapes beside a prober, each kind in a process of its own; then checks a sample of
 *  answers. */
export async function measureLoad(
  plan: LoadPlan,
  { client, checker }: { client: BenchClient; checker: LogStore | undefined },
): Promise<LoadResult> {
  const { url, pid, seed, parameters, clients, seconds, idleSeconds } = plan
  const probePlan: ProbePlan = { url, everyMs: PROBE_MS }
  const prober = startProcess<ProbeResult>(new URL('./processes/prober.js', import.meta.url), probePlan)
  const clientsPlan: ClientsPlan = { url, seed, parameters, middleHashes: await middleHashes(plan), clients, seconds }
  let crowd: BenchProcess<ClientsResult | 'begin'> | undefined
  try {
    await sleep(Math.min(REST_MS, seconds * 1_000))
    const blockNumberAtRest = await askProber(prober)
    crowd = startProcess(new URL('./processes/clients.js', import.meta.url), clientsPlan)
    await crowd.next()
    await askProber(prober) // what was asked while the clients started is no part of it
    const watch = watchServer(pid)
    const { samples, ...result } = (await crowd.next()) as ClientsResult
    const blockNumber = await askProber(prober)
    const watched = watch.stop()
    prober.kill()
    await sleep(idleSeconds * 1_000)
    const idleMemory = readMemory(pid) ?? null
    const checked = await check(samples, plan, { client, checker })
    return { clients, ...result, blockNumberAtRest, blockNumber, ...watched, idleMemory, checked }
  } finally {
    prober.kill()
    crowd?.kill()
  }
}

function askProber(prober: BenchProcess<ProbeResult>): Promise<ProbeResult> {
  prober.send('count')
  return prober.next()
}

/** Hashes of the blocks that the questions by hash are about. */
async function middleHashes({ parameters, hashOf }: LoadPlan): Promise<string[]> {
  const { head } = parameters
  const middle = Math.floor(head / 2)
  const { first, count } = variantsOf(parameters)
  const hashes: string[] = []
  for (let number = middle; number <= Math.min(head, middle + first + count); number++)
    hashes.push(await hashOf(number))
  return hashes
}

/** Watches the process of the server until it is stopped. */
function watchServer(pid: number): { stop(): Pick<LoadResult, 'mainThread' | 'memory'> } {
  resetPeak(pid)
  const [start, threadStart] = [readMemory(pid), readMainThread(pid)]
  let peakAnonymousMb = 0
  const look = () => {
    const now = readMemory(pid)
    peakAnonymousMb = Math.max(peakAnonymousMb, now?.anonymousMb ?? 0)
    return now
  }
  const timer = setInterval(look, MEMORY_MS)
  return {
    stop: () => {
      clearInterval(timer)
      const [end, threadEnd] = [look(), readMainThread(pid)]
      const ranMs = (threadEnd?.ranMs ?? 0) - (threadStart?.ranMs ?? 0)
      const waitedForCoreMs = (threadEnd?.waitedMs ?? 0) - (threadStart?.waitedMs ?? 0)
      return {
        mainThread: threadStart && threadEnd ? { ranMs, waitedForCoreMs } : null,
        memory: start && end ? { start, end, peakAnonymousMb } : null,
      }
    },
  }
}

/** Counts the sampled answers again until the time for it is used up. */
async function check(
  samples: readonly Sample[],
  { shapes }: LoadPlan,
  { client, checker }: { client: BenchClient; checker: LogStore | undefined },
): Promise<LoadResult['checked']> {
  const wrong: Sample[] = []
  let answers = 0
  const started = performance.now()
  for (const sample of samples) {
    if (performance.now() - started > CHECK_BUDGET_MS) break
    const shape = shapes.find(({ name }) => name === sample.shape)!
    const question = shape.question(sample.n)
    const expected = checker ? await checker.find(question) : await countHalves(client, question)
    if (expected !== sample.results) wrong.push(sample)
    answers++
  }
  return { answers, by: checker?.name ?? 'cairn, in halves', wrong }
}

/** Logs that the server finds in the two halves of the range: other filters, so that no answer is one it remembers. */
async function countHalves(client: BenchClient, question: Question): Promise<number> {
  const { fromBlock, toBlock } = question
  const middle = Math.floor((fromBlock + toBlock) / 2)
  const count = async (from: number, to: number) =>
    from > to ? 0 : countResults((await client.getLogs(toFilter({ ...question, fromBlock: from, toBlock: to }))).body)
  return Math.min(TOO_MANY, (await count(fromBlock, middle)) + (await count(middle + 1, toBlock)))
}
