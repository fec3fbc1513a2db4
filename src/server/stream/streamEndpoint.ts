import type { StreamFormat, StreamKind } from '../../export/stream/streamQuery.js'
import { messageOf } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import type { Metrics } from '../../lib/metrics.js'
import type { RemoteRunner } from '../../rpc/core/dispatch.js'
import { InvalidValue, RpcError } from '../../rpc/core/errors.js'
import {
  type Access,
  type Caller,
  clientOf,
  isRefusal,
  KEY_INVALID,
  type Refusal,
  retryHeaders,
} from '../access/access.js'
import { clientOfAddress } from '../access/addresses.js'
import { type Admission, BUSY } from '../admission/admission.js'
import type { RefusalReason } from '../admission/refusals.js'
import { BadRequest, type BodyExchange, sendBodyError } from '../bodyExchange.js'
import { checkContentHeaders } from '../http/contentHeaders.js'
import { sendStream } from './sendStream.js'
import { STREAM_TYPES, type StreamLimits } from './streamLimits.js'
import { createStreamRate } from './streamRate.js'
import { decodeStreamRequest, kindsOf, type StreamRequest } from './streamRequest.js'

/** Answers `POST /v3/<KEY>/stream`. */
export interface BulkEndpoint {
  handle(exchange: BodyExchange): void
  /** Ends the responses of keys that were revoked. */
  endRevoked(): void
  /** Makes every response end with its next slice, and refuses new ones. */
  close(): void
}

/** The name of streams in the limits of a key, and the classes of their rows. */
const LIMITED_AS = 'bulk'
const CLASS_OF: { readonly [K in StreamKind]: 'blocks' | 'logs' } = {
  blocks: 'blocks',
  transactions: 'blocks',
  logs: 'logs',
}

/** Slices of one response in memory: one that is sent, the next two, and what the socket has. */
const STREAM_MEMORY_BYTES = 16_000_000

/** A response in progress. */
interface RunningStream {
  readonly caller: Caller
  /** A key, else an address. */
  readonly owner: number | string
  end(): void
}

/** What the endpoint uses. */
export interface StreamEndpointOptions {
  readonly limits: StreamLimits
  /** Addresses, topics and selectors of a request at most. */
  readonly maxParams: number
  readonly access: Access
  readonly admission: Pick<Admission, 'takeCallSlot' | 'output'>
  /** Runs slices in reader threads. */
  readonly remote: RemoteRunner
  readonly metrics: Metrics
  count(reason: RefusalReason): void
}

/** Creates the endpoint. */
export function createStreamEndpoint(options: StreamEndpointOptions): BulkEndpoint {
  return new StreamEndpoint(options)
}

class StreamEndpoint implements BulkEndpoint {
  readonly #options: StreamEndpointOptions
  readonly #running = new Set<RunningStream>()
  readonly #rate
  readonly #sent = { bytes: 0, rows: 0 }
  #isClosed = false

  constructor(options: StreamEndpointOptions) {
    this.#options = options
    this.#rate = createStreamRate(options.limits.bytesPerSecond)
    const { metrics } = options
    metrics.gauge('cairn_bulk_streams', 'Open responses of bulk streams.', () => this.#running.size)
    metrics.counter('cairn_bulk_stream_bytes_total', 'Bytes sent in bulk streams.', () => this.#sent.bytes)
    metrics.counter('cairn_bulk_stream_rows_total', 'Rows sent in bulk streams.', () => this.#sent.rows)
  }

  handle(exchange: BodyExchange) {
    const { request, caller } = exchange
    const { access } = this.#options
    if (isRefusal(caller)) return this.#refuse(exchange, access.countRefusal(caller, request.socket.remoteAddress))
    if (request.method !== 'POST') {
      this.#options.count('bad_method')
      return sendBodyError(exchange, 405, 'method not allowed, use POST', ['Allow', 'POST, OPTIONS'])
    }
    const wrongType = checkContentHeaders(request.headers['content-type'], request.headers['content-encoding'])
    if (wrongType !== undefined) {
      this.#options.count('bad_type')
      return sendBodyError(exchange, 415, wrongType)
    }
    const refusal = access.refuse(caller, 1)
    if (refusal !== undefined) return this.#refuse(exchange, refusal)
    exchange.readBody(
      (body) => this.#receive(exchange, caller, body),
      (status, message) => sendBodyError(exchange, status, message),
    )
  }

  endRevoked(): void {
    for (const { caller, end } of this.#running) if (!this.#options.access.isLive(caller)) end()
  }

  close(): void {
    this.#isClosed = true
  }

  #receive(exchange: BodyExchange, caller: Caller, body: Buffer) {
    try {
      // The body may have taken a minute to arrive.
      if (!this.#options.access.isLive(caller)) return this.#refuse(exchange, KEY_INVALID)
      const request = this.#parse(exchange, body)
      this.#requireAllowed(caller, request)
      this.#start(exchange, caller, request).catch(() => exchange.response.destroy())
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      sendBodyError(exchange, error.status, error.message)
    }
  }

  #parse({ request: { headers } }: BodyExchange, body: Buffer): StreamRequest {
    const format = formatOf(headers.accept)
    let json: unknown
    try {
      json = JSON.parse(body.toString())
    } catch (error) {
      throw new BadRequest(400, `body: expected JSON such as {"from": 0, "logs": [{}]}: ${messageOf(error)}`)
    }
    try {
      return decodeStreamRequest(json, { format, maxParams: this.#options.maxParams })
    } catch (error) {
      if (error instanceof InvalidValue || error instanceof RpcError) throw new BadRequest(400, error.message)
      throw error
    }
  }

  #requireAllowed(caller: Caller, { query }: StreamRequest): void {
    const excluded = kindsOf(query).find((kind) =>
      this.#options.access.excludes(caller, { name: LIMITED_AS, classes: [CLASS_OF[kind]] }),
    )
    if (excluded === undefined) return
    throw new BadRequest(403, `this API key may not stream ${excluded}: its methods do not include ${LIMITED_AS}`)
  }

  async #start(exchange: BodyExchange, caller: Caller, request: StreamRequest): Promise<void> {
    const { limits, admission } = this.#options
    const { remoteAddress } = exchange.request.socket
    const owner = caller.keyId ?? clientOfAddress(remoteAddress)
    const own = [...this.#running].filter((stream) => stream.owner === owner).length
    const share = Math.max(1, limits.streams >> 1)
    if (this.#isClosed || own >= share || this.#running.size >= limits.streams) {
      this.#options.count('in_flight')
      const message = own >= share ? `${own} streams of this client run already` : 'too many streams run already'
      return sendBodyError(exchange, 503, `${message}; try again`, ['Retry-After', '1'])
    }
    const { outputShare } = exchange
    const release = admission.takeCallSlot({ caller, outputShare, remoteAddress }, MAX_PARSED_BYTES)
    if (typeof release !== 'function') return this.#refuse(exchange, release)
    const reservation = admission.output.reserveNow(outputShare, STREAM_MEMORY_BYTES)
    if (reservation === undefined) {
      release()
      return this.#refuse(exchange, BUSY)
    }
    const gone = new AbortController()
    const running: RunningStream = { caller, owner, end: () => exchange.response.destroy() }
    this.#running.add(running)
    exchange.response.once('close', () => gone.abort())
    try {
      await sendStream(exchange, request, {
        remote: this.#options.remote,
        client: clientOf(caller, exchange.request.socket),
        gone: gone.signal,
        endsMs: performance.now() + limits.timeoutMs,
        isClosing: () => this.#isClosed,
        onSent: (bytes, rows) => {
          this.#sent.bytes += bytes
          this.#sent.rows += rows
          return this.#rate.count(owner, bytes)
        },
        pieceBytes: limits.bytesPerSecond === 0 ? undefined : Math.max(MIN_PIECE_BYTES, limits.bytesPerSecond >> 2),
      })
    } finally {
      this.#running.delete(running)
      reservation.release()
      release()
    }
  }

  #refuse(exchange: BodyExchange, refusal: Refusal): void {
    this.#options.count(refusal.reason)
    sendBodyError(exchange, refusal.status, refusal.error.message, retryHeaders(refusal))
  }
}

/** Memory of a parsed request: 5,000 values. */
const MAX_PARSED_BYTES = 1_000_000
const MIN_PIECE_BYTES = 16_384

/** The format that a client accepts; NDJSON unless it names one. */
function formatOf(accept: string | undefined): StreamFormat {
  const types = (accept ?? '*/*').split(',').map((type) => type.split(';')[0].trim().toLowerCase())
  if (types.includes(STREAM_TYPES.arrow)) return 'arrow'
  if ([STREAM_TYPES.ndjson, 'application/*', '*/*'].some((type) => types.includes(type))) return 'ndjson'
  const got = JSON.stringify(abbreviate(accept ?? ''))
  throw new BadRequest(406, `Accept: expected ${STREAM_TYPES.arrow} or ${STREAM_TYPES.ndjson}, got ${got}`)
}
