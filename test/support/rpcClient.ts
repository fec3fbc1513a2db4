import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A JSON-RPC answer. */
export interface Answer {
  jsonrpc: string
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** The answer to a call by POST. */
export async function ask(url: string, method: string, params: unknown = []): Promise<Answer> {
  return send(url, { jsonrpc: '2.0', id: 1, method, params })
}

/** The answer to a request as it is, by POST. */
export async function send(url: string, request: unknown): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) })
  return (await response.json()) as Answer
}

/** The result of a call by POST. @throws Error for an error answer. */
export async function resultOf<T>(url: string, method: string, params: unknown = []): Promise<T> {
  const { result, error } = await ask(url, method, params)
  if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`)
  return result as T
}

// Below the limit of calls in a batch.
const BATCH_CALLS = 50

/** The results of calls of one method, in batches, in the order of their parameters. @throws Error for an error
 *  answer. */
export async function resultsOf<T>(url: string, method: string, params: readonly unknown[]): Promise<T[]> {
  const results: T[] = []
  for (let at = 0; at < params.length; at += BATCH_CALLS) {
    const calls = params.slice(at, at + BATCH_CALLS).map((each, id) => ({ jsonrpc: '2.0', id, method, params: each }))
    const answers = (await send(url, calls)) as unknown as Answer[]
    for (const { result, error } of answers.sort((a, b) => Number(a.id) - Number(b.id))) {
      if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`)
      results.push(result as T)
    }
  }
  return results
}

/** An open socket that has one request under way at a time. */
export interface RpcSocket {
  /** The next message after this one was sent. @throws Error when the socket closes instead. */
  send(request: unknown): Promise<Answer>
  /** The code with which the socket is closed. */
  readonly closed: Promise<number>
  close(): Promise<void>
}

/** Opens a socket. @throws Error when the handshake is refused. */
export async function openSocket(url: string): Promise<RpcSocket> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const closed = once(socket, 'close').then(([code]) => code as number)
  return {
    closed,
    async send(request) {
      const message = once(socket, 'message').then(([data]) => JSON.parse(String(data)) as Answer)
      socket.send(JSON.stringify(request))
      const ended = closed.then((code) => Promise.reject(new Error(`the socket was closed with ${code}`)))
      return Promise.race([message, ended])
    },
    async close() {
      socket.close()
      await closed
    },
  }
}
