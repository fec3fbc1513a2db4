import { WebSocket } from 'ws'
import type { ParsedAddress } from './describeUrl.js'
import { MalformedAnswer, UpstreamOversized, UpstreamTimeout, UpstreamUnreachable } from './errors.js'
import { isObject, matchAnswers, type RpcAnswer, type Transport, writeRequest } from './jsonRpc.js'
import type { UpstreamLimits } from './types.js'

/** A request that waits for its answer. */
interface Pending {
  readonly count: number
  resolve(answers: RpcAnswer[]): void
  reject(error: unknown): void
}

interface Listener {
  onResult(result: unknown): void
  onLost(): void
}

/** One connection and the requests on it. */
interface Connection {
  readonly socket: WebSocket
  readonly pending: Map<number, Pending> // by first id
  readonly opened: Promise<void>
}

/** JSON-RPC over one WebSocket connection, opened by the first request and reopened by the first one after it was lost.
 *  A message that cannot be matched ends the connection, and with it all requests in flight. */
export function createWebSocketTransport(
  address: ParsedAddress,
  limits: UpstreamLimits,
  parse: (text: string) => unknown,
): Transport {
  const { name } = address
  const listeners = new Set<Listener>()
  let nextId = 1
  let current: Connection | undefined
  let closed = false

  const onMessage = (connection: Connection, data: Buffer) => {
    try {
      receive(connection, parseMessage(name, data, parse))
    } catch (error) {
      lose(connection, error as Error)
    }
  }
  const receive = ({ pending }: Connection, message: unknown) => {
    if (isObject(message) && typeof message.method === 'string') {
      if (!isObject(message.params)) throw new MalformedAnswer(name, 'a notification has no params')
      for (const { onResult } of [...listeners]) onResult(message.params.result)
      return
    }
    const firstId = findRequest(pending, message)
    if (firstId === undefined && isLate(message, nextId)) return
    if (firstId === undefined) throw new MalformedAnswer(name, 'an answer has an id that was not asked')
    const { count, resolve, reject } = pending.get(firstId)!
    try {
      resolve(matchAnswers(name, message, firstId, count))
    } catch (error) {
      reject(error)
    }
  }
  const lose = (connection: Connection, error: Error) => {
    connection.socket.terminate()
    const wasCurrent = current === connection
    if (wasCurrent) current = undefined
    for (const { reject } of [...connection.pending.values()]) reject(error)
    if (wasCurrent) for (const { onLost } of [...listeners]) onLost()
  }

  return {
    send: async (calls, signal) => {
      signal?.throwIfAborted()
      if (closed) throw new UpstreamUnreachable(name, 'closed')
      current ??= connect(address, limits, onMessage, lose)
      const connection = current
      const { socket, pending } = connection
      await untilOpen(connection, signal)
      if (socket.readyState !== WebSocket.OPEN) throw new UpstreamUnreachable(name, 'the connection was lost')
      const firstId = nextId
      nextId += calls.length
      return waitFor({ pending, firstId, count: calls.length, signal, timeoutMs: limits.requestTimeoutMs, name }, () =>
        socket.send(writeRequest(calls, firstId)),
      )
    },
    listen: (onResult, onLost) => {
      const listener = { onResult, onLost }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => {
      closed = true
      if (current) lose(current, new UpstreamUnreachable(name, 'closed'))
    },
  }
}

function connect(
  { url, headers, name, redact }: ParsedAddress,
  limits: UpstreamLimits,
  onMessage: (connection: Connection, data: Buffer) => void,
  onLost: (connection: Connection, error: Error) => void,
): Connection {
  const socket = new WebSocket(url, {
    headers,
    handshakeTimeout: limits.requestTimeoutMs,
    maxPayload: limits.maxResponseBytes,
    perMessageDeflate: false, // a bomb would be decompressed before its length is known
    followRedirects: false,
  })
  let failure: Error | undefined
  const opened = new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure ??=
        error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
          ? new UpstreamOversized(name, `the response has more than ${limits.maxResponseBytes} bytes`)
          : new UpstreamUnreachable(name, redact(error.code || error.message))
    })
    socket.on('close', (code) => {
      failure ??= new UpstreamUnreachable(name, `the connection was closed with code ${code}`)
      reject(failure) // no effect once it was open
      onLost(connection, failure)
    })
  })
  opened.catch(() => {}) // requests that ended early do not await it
  const connection: Connection = { socket, pending: new Map(), opened }
  socket.on('message', (data) => onMessage(connection, data as Buffer))
  return connection
}

/** Resolves when the connection is open. @throws the reason of `signal` when it aborts before; UpstreamError. */
function untilOpen({ opened }: Connection, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    opened.then(resolve, reject).finally(() => signal?.removeEventListener('abort', onAbort))
  })
}

function parseMessage(upstream: string, data: Buffer, parse: (text: string) => unknown): unknown {
  try {
    return parse(data.toString('utf8'))
  } catch {
    throw new MalformedAnswer(upstream, `expected JSON, got a message of ${data.length} bytes that is none`)
  }
}

interface Wait {
  readonly pending: Map<number, Pending>
  readonly firstId: number
  readonly count: number
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly name: string
}

/** Registers the request, sends it, and waits for its answers. */
function waitFor({ pending, firstId, count, signal, timeoutMs, name }: Wait, send: () => void): Promise<RpcAnswer[]> {
  return new Promise((resolve, reject) => {
    const onAbort = () => finish(() => reject(signal?.reason))
    const timer = setTimeout(() => finish(() => reject(new UpstreamTimeout(name, timeoutMs))), timeoutMs)
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      pending.delete(firstId)
      settle()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    pending.set(firstId, {
      count,
      resolve: (answers) => finish(() => resolve(answers)),
      reject: (error) => finish(() => reject(error)),
    })
    send()
  })
}

/** Returns the first id of the request that a message answers. A lone error without an id answers the only pending
 *  request. */
function findRequest(pending: ReadonlyMap<number, Pending>, parsed: unknown): number | undefined {
  const items = Array.isArray(parsed) ? parsed : [parsed]
  for (const item of items) {
    const id = isObject(item) ? item.id : undefined
    if (typeof id !== 'number') continue
    for (const [firstId, { count }] of pending) if (id >= firstId && id < firstId + count) return firstId
  }
  const isLoneError = isObject(parsed) && 'error' in parsed && parsed.id == null
  return isLoneError && pending.size === 1 ? pending.keys().next().value : undefined
}

/** True for the answer to a request that ended early. */
function isLate(parsed: unknown, nextId: number): boolean {
  const items = Array.isArray(parsed) ? parsed : [parsed]
  return (
    items.length > 0 &&
    items.every(
      (item) => isObject(item) && typeof item.id === 'number' && Number.isInteger(item.id) && item.id < nextId,
    )
  )
}
