import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { ParsedAddress } from './describeUrl.js'
import {
  MalformedAnswer,
  UpstreamError,
  UpstreamHttpStatus,
  UpstreamOversized,
  UpstreamThrottled,
  UpstreamTimeout,
  UpstreamUnreachable,
} from './errors.js'
import { matchAnswers, type Transport, writeRequest } from './jsonRpc.js'
import { linkAbort } from './linkedAbort.js'
import { parseRetryAfter } from './retryAfter.js'
import type { UpstreamLimits } from './types.js'

/** Sends HTTP requests to one upstream and returns the JSON of their responses. */
interface HttpExchange {
  /** Sends a GET of `url` without a body, else a POST. @throws UpstreamError of any class; the reason of `signal` when
   *  it aborts. */
  ask(url: URL, body: string | undefined, signal: AbortSignal | undefined): Promise<unknown>
  close(): void
}

/** How responses are read. */
interface HttpReading {
  /** The clock that dates in Retry-After are compared with. */
  unixMs(): number
  /** @throws SyntaxError */
  parse(text: string): unknown
  /** True for JSON that is the error of an answer, although its status is 400 or above. */
  isErrorAnswer(parsed: object): boolean
}

/** JSON-RPC over HTTP POST. @param unixMs the clock that dates in Retry-After are compared with */
export function createHttpTransport(
  address: ParsedAddress,
  limits: UpstreamLimits,
  { unixMs, parse }: Pick<HttpReading, 'unixMs' | 'parse'>,
): Transport {
  // Some servers answer JSON-RPC errors with status 400 or 500.
  const exchange = createHttpExchange(address, limits, { unixMs, parse, isErrorAnswer: (parsed) => 'error' in parsed })
  return {
    send: async (calls, signal) => {
      signal?.throwIfAborted()
      const parsed = await exchange.ask(address.url, writeRequest(calls, 1), signal)
      return matchAnswers(address.name, parsed, 1, calls.length)
    },
    close: exchange.close,
  }
}

/** HTTP with keep-alive connections. Responses may be compressed with gzip; their length is bounded after
 *  decompression. Redirects are not followed: they would take credentials elsewhere. */
export function createHttpExchange(address: ParsedAddress, limits: UpstreamLimits, reading: HttpReading): HttpExchange {
  const { url, name } = address
  const library = url.protocol === 'https:' ? https : http
  const agent = new library.Agent({ keepAlive: true, maxSockets: limits.maxConcurrency })
  const closed = linkAbort()

  const ask: HttpExchange['ask'] = async (target, body, signal) => {
    const linked = linkAbort(signal, closed.signal)
    const timeout = new UpstreamTimeout(name, limits.requestTimeoutMs)
    const timer = setTimeout(() => linked.abort(timeout), limits.requestTimeoutMs)
    const method = body === undefined ? 'GET' : 'POST'
    const options = { method, agent, signal: linked.signal, headers: requestHeaders(address, body) }
    try {
      const response = await exchange(() => library.request(target, options), body, linked.signal)
      return await readResponse(address, response, limits.maxResponseBytes, reading)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (linked.signal.reason === timeout) throw timeout
      if (error instanceof UpstreamError) throw error
      throw new UpstreamUnreachable(name, `no whole response: ${address.redact(describeFailure(error))}`)
    } finally {
      clearTimeout(timer)
      linked.release()
    }
  }

  return {
    ask,
    close: () => {
      closed.abort(new Error('closed'))
      agent.destroy()
    },
  }
}

function requestHeaders({ headers }: ParsedAddress, body: string | undefined): http.OutgoingHttpHeaders {
  const content =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return { accept: 'application/json', 'accept-encoding': 'gzip', ...content, ...headers }
}

/** Sends the body and waits for the head of the response. If the server had closed a kept connection, retries once on a
 *  new one. */
async function exchange(
  open: () => http.ClientRequest,
  body: string | undefined,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const request = open()
  try {
    return await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(body)
    })
  } catch (error) {
    const isStale = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
    if (!isStale || signal.aborted) throw error
    return exchange(open, body, signal)
  }
}

async function readResponse(
  { name, redact }: ParsedAddress,
  response: http.IncomingMessage,
  maxBytes: number,
  { unixMs, parse, isErrorAnswer }: HttpReading,
): Promise<unknown> {
  const status = response.statusCode ?? 0
  const retryAfterMs = parseRetryAfter(response.headers['retry-after'], unixMs())
  const refuse = (error: UpstreamError): never => {
    response.destroy()
    throw error
  }
  if (status === 429 || (status === 503 && response.headers['retry-after'] !== undefined)) {
    refuse(new UpstreamThrottled(name, `HTTP status ${status}`, retryAfterMs))
  }
  if (status === 413) refuse(new UpstreamOversized(name, 'HTTP status 413, the request is too large'))
  const type = response.headers['content-type'] ?? 'none'
  if (status < 200 || status >= 600 || (status >= 300 && status < 400)) refuse(new UpstreamHttpStatus(name, status))
  if (!/json/i.test(type)) {
    if (status >= 400) refuse(new UpstreamHttpStatus(name, status))
    refuse(new MalformedAnswer(name, `expected content type application/json, got ${redact(type)}`))
  }
  const text = (await readBytes(name, response, maxBytes)).toString('utf8')
  try {
    const parsed = parse(text)
    if (status >= 400 && !(typeof parsed === 'object' && parsed !== null && isErrorAnswer(parsed))) {
      throw new UpstreamHttpStatus(name, status)
    }
    return parsed
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    throw new MalformedAnswer(name, `expected JSON, got ${text.length} characters that are none`)
  }
}

async function readBytes(name: string, response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const oversized = () => {
    response.destroy()
    return new UpstreamOversized(name, `the response has more than ${maxBytes} bytes`)
  }
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw oversized()
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'gzip') {
    response.destroy()
    throw new MalformedAnswer(name, 'expected no content encoding or gzip, got another')
  }
  const stream: Readable = encoding === 'gzip' ? response.pipe(createGunzip()) : response
  // `pipe` does not forward errors: a cut response would leave the gunzip stream waiting.
  if (stream !== response) response.on('error', (error) => stream.destroy(error))
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) throw oversized()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function describeFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}
