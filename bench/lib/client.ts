import { Agent, request } from 'node:http'
import type { Question } from '../logs/shapes.js'

/** A filter as JSON-RPC has it. */
export type Filter = { [member: string]: unknown }

/** An answer and the time from sending the request to its last byte. */
export interface Timed {
  ms: number
  body: Buffer
}

/** A client that has one request under way at a time on one connection. */
export interface BenchClient {
  /** Sends a body of JSON, a batch for example. */
  send(body: unknown): Promise<Timed>
  getLogs(filter: Filter): Promise<Timed>
  close(): void
}

/** Logs in the answer that refuses more than 10,000. */
export const TOO_MANY = 10_001

/** A client of the server at `url`. */
export function openClient(url: string): BenchClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send: BenchClient['send'] = (body) => post(url, agent, JSON.stringify(body))
  return { send, getLogs: (filter) => send(makeCall('eth_getLogs', [filter])), close: () => agent.destroy() }
}

/** A call as JSON-RPC has it. */
export function makeCall(method: string, params: unknown[]) {
  return { jsonrpc: '2.0', id: 1, method, params }
}

/** Sends a body and reads the whole answer. @throws Error when the connection fails, ends before the answer, or is
 *  silent for longer than the agent allows. */
export function post(url: string, agent: Agent, text: string): Promise<Timed> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('end', () => {
        const ms = performance.now() - started
        if (response.complete) resolve({ ms, body: Buffer.concat(chunks) })
        else reject(new Error('the answer ended early'))
      })
      response.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.on('error', reject)
    sent.end(text)
  })
}

/** The question as a filter; with `blockHash`, of that block alone. */
export function toFilter({ fromBlock, toBlock, address, topics }: Question, blockHash?: string): Filter {
  const range = blockHash
    ? { blockHash }
    : { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }
  return { ...range, address, topics }
}

/** Logs in an answer, `TOO_MANY` where it refuses more. @throws Error for any other error. */
export function countResults(body: Buffer): number {
  const { result, error } = JSON.parse(body.toString()) as {
    result?: unknown[]
    error?: { code: number; message: string }
  }
  if (result !== undefined) return result.length
  if (error?.message === 'query returned more than 10000 results') return TOO_MANY
  throw new Error(`eth_getLogs: ${error?.code} ${error?.message}`)
}

/** The value below which that share of the values lies: the nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
}
