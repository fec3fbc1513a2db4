import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { StreamFormat, StreamPosition } from '../../export/stream/streamQuery.js'
import { END_OF_STREAM } from '../../lib/arrow/arrowStream.js'
import { BoundCall } from '../../rpc/core/boundCall.js'
import type { ClientId, RemoteRunner } from '../../rpc/core/dispatch.js'
import { INVALID_PARAMS, LIMIT_EXCEEDED, type RpcErrorBody } from '../../rpc/core/errors.js'
import { readSlice } from '../../rpc/stream/readSlice.js'
import { decodeSlice, formatRef, type ReceivedSlice } from '../../rpc/stream/sliceMessage.js'
import type { BodyExchange } from '../bodyExchange.js'
import { HEAD_HEADER } from '../head/minBlock.js'
import { sendJsonError } from '../http/jsonError.js'
import { SliceMemory } from './sliceMemory.js'
import { SlicesAhead } from './slicesAhead.js'
import { MAX_STREAM_BYTES, STREAM_TYPES } from './streamLimits.js'
import type { StreamRequest } from './streamRequest.js'

/** How a response is sent. */
export interface SendOptions {
  readonly remote: RemoteRunner
  /** Takes turns with other clients for reader threads. */
  readonly client: ClientId
  /** Aborted once the client is gone. */
  readonly gone: AbortSignal
  /** The response ends with the slice after this time, by `performance.now()`. */
  readonly endsMs: number
  /** True once the server stops. */
  isClosing(): boolean
  /** Called with bytes and rows that the client has read or soon will. Returns how many milliseconds to wait. */
  onSent(sizeBytes: number, rows: number): number
  /** Bytes of a slice, and between two waits, if the rate is limited. */
  readonly pieceBytes?: number
}

/** Slices that are read at a time, unless a bound or a rate makes them smaller: a server has two threads by default. */
const SLICES_AHEAD = 2

/** Sends slices as fast as the client reads them, and the end. While a slice is sent, the next ones are read. A stream
 *  without a thread or time ends early with the block to resume from; after a failure the connection is closed. */
export async function sendStream(exchange: BodyExchange, request: StreamRequest, options: SendOptions): Promise<void> {
  const { response, headers } = exchange
  const { query, from, to, recent, maxBytes } = request
  // Without a smaller bound a slice has its usual size.
  const bound = Math.min(maxBytes, options.pieceBytes ?? maxBytes)
  const sliceBytes = bound < MAX_STREAM_BYTES ? bound : undefined
  const memory = new SliceMemory()
  const read = (position: StreamPosition) => runSlice(request, { ...position, maxBytes: sliceBytes }, options)
  const first = await read({ from, to, recent, isFirst: true })
  if (options.gone.aborted) return
  if ('code' in first) return sendFailure(exchange, first)
  if (first.isForked) return sendFork(exchange, first)
  const head = first.head === undefined ? [] : [HEAD_HEADER, String(first.head.number)]
  const type = ['Content-Type', STREAM_TYPES[query.format], 'Cache-Control', 'no-store']
  response.writeHead(200, [...headers, ...type, ...head])
  const readOn = (position: StreamPosition) => read({ ...position, memory: memory.take() })
  const ahead = new SlicesAhead(readOn, first, { from, most: sliceBytes === undefined ? SLICES_AHEAD : 1 })
  let sentBytes = 0
  for (let slice = first; ; ) {
    sentBytes += slice.bytes.length
    const isSpent = sentBytes >= maxBytes || performance.now() >= options.endsMs || options.isClosing()
    const next = isSpent ? undefined : ahead.next(slice)
    await writeSlice(response, slice, { ...options, onFlushed: (bytes) => memory.giveBack(bytes) })
    if (options.gone.aborted) return
    const following = await next
    if (following !== undefined && 'code' in following && following.code !== LIMIT_EXCEEDED)
      return void response.destroy()
    // Without a thread for the next slice the client resumes later.
    if (following === undefined || 'code' in following) return void response.end(formatEnd(slice, query.format))
    if (following.isForked) return void response.end(formatEnd(following, query.format))
    slice = following
  }
}

/** Runs a slice in a reader thread. Never rejects. */
async function runSlice(
  { query }: StreamRequest,
  position: StreamPosition,
  { remote, client }: SendOptions,
): Promise<ReceivedSlice | RpcErrorBody> {
  const outcome = await remote.run(new BoundCall(readSlice, [], [query, position]), { client })
  return 'error' in outcome ? outcome.error : decodeSlice(outcome.result, position.memory)
}

interface WriteOptions extends SendOptions {
  /** Called once the system has all bytes of a slice. */
  onFlushed(bytes: Uint8Array): void
}

/** Resolves once the socket accepts more, and the rate of the client allows it. */
async function writeSlice(
  response: ServerResponse,
  { bytes, rows }: ReceivedSlice,
  { gone, onSent, onFlushed, pieceBytes = bytes.length }: WriteOptions,
): Promise<void> {
  for (let at = 0; at < bytes.length && !gone.aborted; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    const isLast = at + piece.length === bytes.length
    try {
      const accepts = response.write(piece, (error) => {
        if (isLast && !error) onFlushed(bytes)
      })
      if (!accepts) await once(response, 'drain', { signal: gone })
      const waitMs = onSent(piece.length, at === 0 ? rows : 0)
      if (waitMs >= 1) await pause(waitMs, undefined, { signal: gone })
    } catch (error) {
      if (!gone.aborted) throw error
    }
  }
}

/** The end of a response: of Arrow the marker of the format, which readers stop at, and the end as a line of JSON. */
function formatEnd(slice: ReceivedSlice, format: StreamFormat): Uint8Array {
  const end = JSON.stringify(describeEnd(slice))
  if (format === 'ndjson') return Buffer.from(`{"end":${end}}\n`)
  return Buffer.concat([END_OF_STREAM, Buffer.from(`\n${end}\n`)])
}

function describeEnd({ nextBlock, head, recent }: ReceivedSlice): object {
  const newest = head && { ...formatRef(head), finalized: head.finalized ?? null }
  return { nextBlock, head: newest ?? null, recent: recent.map(formatRef) }
}

/** The response to a client whose `recent` blocks were replaced. */
function sendFork({ response, headers }: BodyExchange, slice: ReceivedSlice): void {
  const error = `body.recent: the chain was reorganised; drop all rows from block ${slice.nextBlock} on, and resume there`
  const body = JSON.stringify({ error, ...describeEnd(slice) })
  const length = String(Buffer.byteLength(body))
  response.writeHead(409, [...headers, 'Content-Type', 'application/json', 'Content-Length', length])
  response.end(body)
}

function sendFailure({ response, headers }: BodyExchange, { code, message }: RpcErrorBody) {
  if (code === LIMIT_EXCEEDED) {
    return sendJsonError(response, { status: 503, message, headers: [...headers, 'Retry-After', '1'] })
  }
  sendJsonError(response, { status: code === INVALID_PARAMS ? 400 : 500, message, headers })
}
