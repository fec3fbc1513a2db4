import { Agent, request } from 'node:http'
import type { OrdinaryLogs } from './ordinary.js'
import type { Question, Shape } from './shapes.js'

/** What was measured of a shape, in milliseconds. */
export interface ShapeResult {
  name: string
  selective: boolean
  /** Logs in the answer to the first question; 10,001 where the answer is the error for more than 10,000. */
  results: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  ordinaryP50Ms: number
  peers: Record<string, never>
}

/** A client that has one request under way at a time on one connection. */
export interface BenchClient {
  /** The time from sending to the last byte of the answer, and the answer. */
  getLogs(filter: unknown): Promise<{ ms: number; body: Buffer }>
  close(): void
}

const RUNS = 30
const ORDINARY_RUNS = 9
// Per shape: the slow ones of the ordinary design take seconds each.
const ORDINARY_BUDGET_MS = 2_500
const TOO_MANY = 10_001

/** Asks the questions of a shape of both stores and requires that both find as many logs.
 *  @throws Error when they do not, or for an error other than that of too many logs. */
export async function measureShape(
  shape: Shape,
  {
    client,
    ordinary,
    hashOf,
  }: { client: BenchClient; ordinary: OrdinaryLogs; hashOf: (blockNumber: number) => string },
): Promise<ShapeResult> {
  const ask = (question: Question) => client.getLogs(toFilter(question, shape.byHash ? hashOf : undefined))
  const first = await ask(shape.question(0))
  const results = countResults(first.body)
  const times: number[] = []
  for (let n = 1; n <= RUNS; n++) {
    const { ms, body } = await ask(shape.question(n))
    if (body.includes('"error"')) countResults(body)
    times.push(ms)
  }
  const expected = ordinary.find(shape.question(0)).length
  if (expected !== results) throw new Error(`${shape.name}: ${results} results, the ordinary design has ${expected}`)
  const ordinaryTimes: number[] = []
  const started = performance.now()
  for (let n = 1; n <= ORDINARY_RUNS; n++) {
    const asked = performance.now()
    ordinary.find(shape.question(n))
    ordinaryTimes.push(performance.now() - asked)
    if (performance.now() - started > ORDINARY_BUDGET_MS) break
  }
  return {
    name: shape.name,
    selective: shape.selective === true,
    results,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    maxMs: quantile(times, 1),
    ordinaryP50Ms: quantile(ordinaryTimes, 0.5),
    peers: {},
  }
}

/** A client of the server at `url`. */
export function openClient(url: string): BenchClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const getLogs: BenchClient['getLogs'] = (filter) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] })
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const started = performance.now()
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('end', () => resolve({ ms: performance.now() - started, body: Buffer.concat(chunks) }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(text)
    })
  }
  return { getLogs, close: () => agent.destroy() }
}

/** The value below which that share of the values lies: the nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
}

function toFilter({ fromBlock, toBlock, address, topics }: Question, hashOf?: (blockNumber: number) => string) {
  const range = hashOf
    ? { blockHash: hashOf(fromBlock) }
    : { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }
  return { ...range, address, topics }
}

function countResults(body: Buffer): number {
  const { result, error } = JSON.parse(body.toString()) as {
    result?: unknown[]
    error?: { code: number; message: string }
  }
  if (result !== undefined) return result.length
  if (error?.message === 'query returned more than 10000 results') return TOO_MANY
  throw new Error(`eth_getLogs: ${error?.code} ${error?.message}`)
}
