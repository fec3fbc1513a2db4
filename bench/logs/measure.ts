import { type BenchClient, countResults, quantile, toFilter } from '../lib/client.js'
import { collectBetween } from './garbage.js'
import type { Question, Shape } from './shapes.js'
import type { LogStore } from './store.js'

/** What was measured of a shape, in milliseconds. */
export interface ShapeResult {
  name: string
  selective: boolean
  /** Logs in the answer to the first question; 10,001 where the answer is the error for more than 10,000. */
  results: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** Null when the ordinary design was left out. */
  ordinaryP50Ms: number | null
  /** p50 of each other store. */
  peers: { [name: string]: number }
}

/** The hash of a block, as hex. */
export type HashOf = (blockNumber: number) => string | Promise<string>

// Per shape and store: some questions take the others seconds each.
const STORE_RUNS: { [store: string]: number } = { ordinary: 9 }
const PEER_RUNS = 5
const STORE_BUDGET_MS = 2_500
// Those with few results are asked more often: of 30 times the 99th percentile would be the slowest.
const SELECTIVE_RUNS = 10
const MOST_WARM_UP = 500

/** Asks for the logs of single blocks, until the code of client and server is compiled: a server at work is warm. With
 *  few `runs` it asks less. */
export async function warmUp(client: BenchClient, { head, runs }: { head: number; runs: number }): Promise<void> {
  const asked = Math.min(MOST_WARM_UP, 20 * runs)
  for (let n = 0; n < asked; n++) {
    const block = Math.floor((n / asked) * head)
    countResults((await client.getLogs(toFilter({ fromBlock: block, toBlock: block }))).body)
  }
}

/** Asks the questions of each shape of the server, and then those of all shapes of the other stores in the process: a
 *  query of theirs, on all cores and gigabytes of memory, would be felt by the server's next ones. All must find as
 *  many logs. @throws Error when they do not, or for an error other than that of too many logs. */
export async function measureShapes(
  shapes: readonly Shape[],
  { client, hashOf, others, runs }: { client: BenchClient; hashOf: HashOf; others: readonly LogStore[]; runs: number },
): Promise<ShapeResult[]> {
  const results: ShapeResult[] = []
  for (const [i, shape] of shapes.entries()) {
    process.stderr.write(`\rshape ${i + 1} of ${shapes.length}: ${shape.name}\x1b[K`)
    const isSelective = shape.kind === 'selective'
    const asked = isSelective ? runs * SELECTIVE_RUNS : runs
    const { results: found, times } = await askOverHttp(shape, { client, hashOf, runs: asked })
    const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantile(times, share))
    const own = { name: shape.name, selective: isSelective, results: found }
    results.push({ ...own, p50Ms, p99Ms, maxMs, ordinaryP50Ms: null, peers: {} })
  }
  for (const [i, shape] of shapes.entries()) {
    for (const store of others) {
      process.stderr.write(`\rshape ${i + 1} of ${shapes.length}, ${store.name}: ${shape.name}\x1b[K`)
      const p50Ms = await compareStore(store, shape, { expected: results[i].results, runs })
      if (store.name === 'ordinary') results[i].ordinaryP50Ms = p50Ms
      else results[i].peers[store.name] = p50Ms
    }
  }
  process.stderr.write('\n')
  return results
}

async function compareStore(
  store: LogStore,
  shape: Shape,
  { expected, runs }: { expected: number; runs: number },
): Promise<number> {
  const found = await store.find(shape.question(0))
  if (found !== expected) throw new Error(`${shape.name}: ${expected} results, ${store.name} has ${found}`)
  return quantile(await askStore(store, shape, runs), 0.5)
}

/** Logs in the answer to question 0, and the times of questions 1 to `runs`, in milliseconds; fewer when `budgetMs` is
 *  used up. */
export async function askOverHttp(
  shape: Shape,
  { client, hashOf, runs, budgetMs }: { client: BenchClient; hashOf: HashOf; runs: number; budgetMs?: number },
): Promise<{ results: number; times: number[] }> {
  const ask = async (question: Question) =>
    client.getLogs(toFilter(question, shape.byHash && (await hashOf(question.fromBlock))))
  const results = countResults((await ask(shape.question(0))).body)
  const times: number[] = []
  const started = performance.now()
  for (let n = 1; n <= runs; n++) {
    const { ms, body } = await ask(shape.question(n))
    if (body.includes('"error"')) countResults(body)
    times.push(ms)
    collectBetween(body.length)
    if (budgetMs !== undefined && performance.now() - started > budgetMs) break
  }
  return { results, times }
}

async function askStore(store: LogStore, shape: Shape, runs: number): Promise<number[]> {
  const times: number[] = []
  const started = performance.now()
  for (let n = 1; n <= Math.min(runs, STORE_RUNS[store.name] ?? PEER_RUNS); n++) {
    const asked = performance.now()
    await store.find(shape.question(n))
    times.push(performance.now() - asked)
    if (performance.now() - started > STORE_BUDGET_MS) break
  }
  return times
}
