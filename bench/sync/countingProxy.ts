import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** What an upstream was asked for. */
export interface StateRequests {
  /** Messages that ask for state, each with one call or a batch. */
  readonly messages: number
  /** Of these, sent while no other one waited for its answer: round trips, one after the other. */
  readonly rounds: number
  /** Messages by what their first call asks for. */
  readonly proofs: number
  readonly witnesses: number
  readonly codes: number
  readonly hints: number
  /** Accounts and slots whose proofs were asked for. */
  readonly accounts: number
  readonly slots: number
  /** Bytes of the answers, as text. */
  readonly answerBytes: number
}

/** A WebSocket proxy that counts the requests for state. */
export interface CountingProxy {
  readonly url: string
  readonly counts: StateRequests
  /** Answers `eth_createAccessList` with the error of a node that lacks it, from now on. */
  refuseHints(): void
  close(): void
}

const METHODS = {
  eth_getProof: 'proofs',
  debug_executionWitness: 'witnesses',
  eth_getCode: 'codes',
  eth_createAccessList: 'hints',
} as const
const NOT_FOUND = -32_601
const NOTHING = {
  messages: 0,
  rounds: 0,
  proofs: 0,
  witnesses: 0,
  codes: 0,
  hints: 0,
  accounts: 0,
  slots: 0,
  answerBytes: 0,
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Starts one in front of a WebSocket URL, on a free port. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
  const counts = { ...NOTHING }
  let refusesHints = false
  server.on('connection', (client) => {
    const upstream = new WebSocket(target, { perMessageDeflate: false, maxPayload: 2 ** 30 })
    const opened = once(upstream, 'open')
    /** Ids of the messages that ask for state and wait for their answers: of a batch that of the first call. */
    const asked = new Set<unknown>()
    client.on('message', async (data) => {
      const text = String(data)
      const parsed = JSON.parse(text) as Call | Call[]
      const calls = Array.isArray(parsed) ? parsed : [parsed]
      const isFirst = asked.size === 0
      if (count(calls, counts)) {
        if (isFirst) counts.rounds++
        asked.add(calls[0].id)
      }
      if (refusesHints && calls[0].method === 'eth_createAccessList') {
        const error = { code: NOT_FOUND, message: 'the method eth_createAccessList does not exist' }
        asked.delete(calls[0].id)
        const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
        return client.send(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
      }
      await opened
      upstream.send(text)
    })
    upstream.on('message', (data) => {
      const text = String(data)
      const id = firstId(text)
      if (asked.delete(id)) counts.answerBytes += text.length
      client.send(text)
    })
    client.on('close', () => upstream.terminate())
    upstream.on('close', () => client.terminate())
    upstream.on('error', () => client.terminate())
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get counts() {
      return { ...counts }
    },
    refuseHints: () => {
      refusesHints = true
    },
    close: () => {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}

/** The requests between two counts. */
export function requestsSince(before: StateRequests, after: StateRequests): StateRequests {
  const names = Object.keys(NOTHING) as (keyof StateRequests)[]
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as StateRequests
}

/** Counts a message. @returns true if it asks for state */
function count(calls: readonly Call[], counts: typeof NOTHING): boolean {
  const kind = METHODS[calls[0]?.method as keyof typeof METHODS]
  if (kind === undefined) return false
  counts.messages++
  counts[kind]++
  if (kind !== 'proofs') return true
  counts.accounts += calls.length
  for (const { params } of calls) counts.slots += (params[1] as unknown[]).length
  return true
}

/** The id of an answer, the first one's of a batch; undefined for a notice. */
function firstId(text: string): unknown {
  const parsed = JSON.parse(text) as { id?: unknown } | { id?: unknown }[]
  return (Array.isArray(parsed) ? parsed[0] : parsed)?.id
}
