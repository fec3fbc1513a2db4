import http from 'node:http'
import https from 'node:https'
import { CairnError, UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { describeUrl } from '../../sources/upstreams/describeUrl.js'
import type { BlockRef } from '../../sync/head/events.js'
import { ReplicationGone, ReplicationRefused } from './errors.js'
import { createFrameReader, type StreamFrame } from './frames.js'

/** A server sends a heartbeat every 5 s. */
const SILENCE_MS = 15_000

const MAX_ERROR_BYTES = 4096

/** The server sent nothing for 15 s. */
export class ServerSilent extends CairnError {
  constructor() {
    super(`nothing came for ${SILENCE_MS / 1000} s`)
  }
}

/** Returns the stream URL of a server, which `http://HOST`, `http://HOST/KEY` and `http://HOST/v3/KEY` also name.
 *  `option` names the command-line option in errors. @throws UsageError for another protocol or an invalid URL */
export function streamUrl(text: string, option = '--replica'): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`${option}: expected a URL such as http://127.0.0.1:8545/KEY, got something else`)
  }
  const key = url.pathname.replace(/^\/(?:replication|v3)(?=\/|$)/, '').replace(/\/+$/, '')
  url.pathname = `/replication${key}`
  url.search = ''
  url.hash = ''
  return url
}

/** Yields the frames of one response as they arrive. Ends when the server ends it, or the signal aborts.
 *  @throws ReplicationRefused, ReplicationGone, ServerSilent, InvalidMessage, network errors */
export async function* openFrames(
  address: string,
  { locator, state }: { locator: readonly BlockRef[]; state?: number | 'none' },
  signal: AbortSignal,
): AsyncGenerator<StreamFrame> {
  const url = streamUrl(address)
  url.searchParams.set('locator', locator.map(({ number, hash }) => `${number}:${formatData(hash)}`).join())
  if (state !== undefined) url.searchParams.set('state', String(state))
  const response = await request(url, signal)
  try {
    if (response.statusCode !== 200) throw await refusalOf(address, response)
    const reader = createFrameReader()
    const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    for (;;) {
      const piece = await withinSilence(response, () => pieces.next())
      if (piece.done) break
      yield* reader.push(piece.value)
    }
    reader.end()
  } finally {
    response.destroy()
  }
}

function request(url: URL, signal: AbortSignal): Promise<http.IncomingMessage> {
  const library = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const sent = library.get(url, { agent: false, signal }, resolve)
    sent.on('error', reject)
    sent.setTimeout(SILENCE_MS, () => void sent.destroy(new ServerSilent()))
    sent.on('response', () => void sent.setTimeout(0)) // a slow reader must not end it
  })
}

async function withinSilence<T>(response: http.IncomingMessage, next: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => void response.destroy(new ServerSilent()), SILENCE_MS)
  try {
    return await next()
  } finally {
    clearTimeout(timer)
  }
}

async function refusalOf(
  address: string,
  response: http.IncomingMessage,
): Promise<ReplicationRefused | ReplicationGone> {
  const status = response.statusCode ?? 0
  let text = ''
  for await (const piece of response.setEncoding('utf8')) {
    text += piece as string
    if (text.length > MAX_ERROR_BYTES) break
  }
  if (status === 410) return new ReplicationGone(describeUrl(address), readReason(text))
  const reason = status === 404 ? 'it does not replicate; start it with --replication' : readReason(text)
  return new ReplicationRefused(describeUrl(address), status, reason)
}

/** Returns the member `error` of a JSON body, or its message; otherwise the beginning of the body. */
function readReason(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } }
    const reason = typeof error === 'object' ? error.message : error
    if (reason !== undefined) return String(reason).slice(0, 200)
  } catch {
    // shown as it is
  }
  return text.slice(0, 200)
}
