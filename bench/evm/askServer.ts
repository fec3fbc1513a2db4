import { openClient, quantile } from '../lib/client.js'
import { readCpuMs } from '../lib/processorTime.js'

/** A server that is asked. */
export interface Server {
  readonly url: string
  readonly pid: number
}

/** How a server answers requests of one kind. */
export interface ServerFigures {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Processor time of the server for one answer. */
  cpuMs: number
}

/** Requests, and on how many connections. */
interface Questions {
  readonly connections: number
  /** The body of the n-th request, from 0. */
  ask(n: number): { readonly method: string }
  /** True once enough was asked that does not count, after that many answers and milliseconds. */
  isWarm(answers: number, ms: number): boolean
  /** Time that counts. */
  readonly seconds: number
}

// At the beginning: of traces, entries may have errors.
const HAS_RESULT = /"result":[{["]/

/** Asks a server on all connections at once, one request after another on each. @throws Error for an error response */
export async function askServer(
  { url, pid }: Server,
  { connections, ask, isWarm, seconds }: Questions,
): Promise<ServerFigures> {
  const clients = Array.from({ length: connections }, () => openClient(url))
  const times: number[] = []
  let n = 0
  const askUntil = (isOver: (ms: number) => boolean) => {
    const startedMs = performance.now()
    return Promise.all(
      clients.map(async (client) => {
        while (!isOver(performance.now() - startedMs)) {
          const asked = ask(n++)
          const { ms, body } = await client.send(asked)
          if (!HAS_RESULT.test(body.toString('latin1', 0, 200)))
            throw new Error(`${asked.method}: ${body.subarray(0, 300)}`)
          times.push(ms)
        }
      }),
    )
  }
  await askUntil((ms) => isWarm(times.length, ms))
  times.length = 0
  const [startedMs, startedCpuMs] = [performance.now(), readCpuMs(pid)]
  await askUntil((ms) => ms > seconds * 1000)
  const tookMs = performance.now() - startedMs
  const cpuMs = (readCpuMs(pid) - startedCpuMs) / times.length
  for (const client of clients) client.close()
  return { perSecond: (times.length * 1000) / tookMs, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), cpuMs }
}

/** Rounds in which servers are asked in turn, and for how long each is asked before its first one. */
export interface Rounds {
  readonly rounds: number
  readonly warmMs: number
}

/** Asks each server in turn, several times. Returns of each the round with the median rate.
 *  @throws Error for an error response */
export async function askInTurn(
  servers: readonly Server[],
  questions: Omit<Questions, 'isWarm'>,
  { rounds, warmMs }: Rounds,
): Promise<ServerFigures[]> {
  const measured: ServerFigures[][] = servers.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const isWarm = (_: number, ms: number) => round > 0 || ms >= warmMs
      measured[i].push(await askServer(server, { ...questions, isWarm }))
    }
  }
  return measured.map(medianRound)
}

/** Returns the round with the median rate. */
export function medianRound<T extends { readonly perSecond: number }>(rounds: readonly T[]): T {
  return rounds.toSorted((a, b) => a.perSecond - b.perSecond)[(rounds.length - 1) >> 1]
}

/** The cells of figures in a table, and their heads. */
export const SERVER_HEADS = ['/s', 'p50 ms', 'p99 ms', 'CPU ms']
export const serverCells = ({ perSecond, p50Ms, p99Ms, cpuMs }: ServerFigures): string[] => [
  perSecond.toFixed(perSecond < 100 ? 1 : 0),
  ...[p50Ms, p99Ms, cpuMs].map((ms) => ms.toFixed(2)),
]
