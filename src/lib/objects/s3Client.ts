import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { messageOf } from '../errors.js'
import { ObjectStoreFailed } from './errors.js'
import type { RequestControl } from './objectStore.js'
import type { S3Settings } from './s3Settings.js'
import { parseErrorCode } from './s3Xml.js'

/** A request to a bucket. */
export interface S3Request extends RequestControl {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** For messages: the action and its object. */
  readonly action: string
  readonly object: string
  /** Key within the bucket; empty for the bucket itself. */
  readonly key: string
  readonly query?: { readonly [name: string]: string }
  readonly headers?: { readonly [name: string]: string }
  /** Opened again for each attempt. */
  readonly body?: { readonly bytes: number; open(): Uint8Array | ReadableStream }
}

/** An answer with an expected status. Its content is read at most once. */
export interface S3Answer {
  readonly status: number
  readonly headers: Headers
  /** Attempts that were made, 1 or more. */
  readonly attempts: number
  text(): Promise<string>
  /** Fails when nothing arrives within the idle time. */
  stream(): Readable
}

const ATTEMPTS = 6
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 10_000
const IDLE_MS = 30_000
/** Minimum speed of an upload, which bounds the wait for it. */
const UPLOAD_BYTES_PER_MS = 256
const MAX_ERROR_BYTES = 64 * 1024

/** Sends signed requests to a bucket, path style (`ENDPOINT/BUCKET/KEY`), by Signature Version 4. Retries 5xx, 429, 409
 *  of a condition under way, lost connections and attempts without progress after a random pause that doubles. */
export function createS3Client(bucket: string, settings: S3Settings) {
  const {
    endpoint,
    region,
    credentials,
    attempts = ATTEMPTS,
    firstPauseMs = FIRST_PAUSE_MS,
    idleMs = IDLE_MS,
  } = settings
  const cache = new Map<string, ArrayBuffer>()
  const sign = async ({ method, key, query = {}, headers = {} }: S3Request) => {
    const url = new URL(`${endpoint}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signer = new AwsV4Signer({ method, url: url.href, headers, ...credentials, service: 's3', region, cache })
    return signer.sign()
  }
  const attempt = async (request: S3Request, expected: readonly number[]): Promise<Attempted> => {
    const { method, body, signal } = request
    const idle = createIdleLimit(idleMs + (body?.bytes ?? 0) / UPLOAD_BYTES_PER_MS, signal)
    try {
      const { url, headers } = await sign(request)
      const init: RequestInit & { duplex: 'half' } = {
        ...{ method, headers, signal: idle.signal, redirect: 'manual', duplex: 'half' },
        ...(body && { body: body.open() as RequestInit['body'] }),
      }
      const response = await fetch(url, init)
      const { status } = response
      if (expected.includes(status)) {
        if (method === 'GET' && status < 300) return { found: response, idle }
        await readError(response) // little or nothing: the connection can be used again
        idle.end()
        return { found: { status, headers: response.headers, body: null }, idle }
      }
      const code = parseErrorCode(await readError(response))
      idle.end()
      const problem = `HTTP ${status}${code === undefined ? '' : ` ${code}`}${adviceOn(status, code)}`
      return { failure: { problem, status, code }, mayHelp: status >= 500 || status === 429 || status === 409 }
    } catch (error) {
      idle.end()
      signal?.throwIfAborted()
      const problem = idle.signal.aborted ? `no progress for ${Math.round(idle.ms / 1000)} s` : causeOf(error)
      return { failure: { problem }, mayHelp: true }
    }
  }
  return {
    /** @throws ObjectStoreFailed for another status than the expected ones; the reason of the signal */
    async send(request: S3Request, expected: readonly number[]): Promise<S3Answer> {
      for (let tried = 1; ; tried++) {
        request.signal?.throwIfAborted()
        const done = await attempt(request, expected)
        if ('found' in done) return answerOf(done, request, { attempts: tried, idleMs })
        const { action, object } = request
        if (!done.mayHelp || tried >= attempts) throw new ObjectStoreFailed({ action, object, ...done.failure })
        const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, firstPauseMs * 2 ** (tried - 1))
        await sleep(pauseMs, undefined, { signal: request.signal }).catch(() => request.signal?.throwIfAborted())
      }
    },
  }
}

/** The used members of a `Response`. Without a body when it was read already. */
type Found = Pick<Response, 'status' | 'headers' | 'body'>

type Attempted =
  | { found: Found; idle: IdleLimit }
  | { failure: { problem: string; status?: number; code?: string }; mayHelp: boolean }

function answerOf(
  { found, idle }: { found: Found; idle: IdleLimit },
  { action, object }: S3Request,
  { attempts, idleMs }: { attempts: number; idleMs: number },
): S3Answer {
  const { status, headers, body } = found
  const chunks = () => readBody(body, { idle, idleMs, action, object })
  return {
    ...{ status, headers, attempts },
    text: async () => {
      const parts: Uint8Array[] = []
      for await (const chunk of chunks()) parts.push(chunk)
      return Buffer.concat(parts).toString('utf8')
    },
    stream: () => Readable.from(chunks(), { objectMode: false }).once('close', idle.cancel),
  }
}

async function* readBody(
  body: ReadableStream<Uint8Array> | null,
  { idle, idleMs, action, object }: { idle: IdleLimit; idleMs: number; action: string; object: string },
): AsyncIterable<Uint8Array> {
  try {
    if (body === null) return
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      idle.end()
      yield chunk
      idle.restart(idleMs)
    }
  } catch (error) {
    if (idle.isCancelled()) throw error
    const problem = idle.signal.aborted ? `no progress for ${Math.round(idleMs / 1000)} s` : causeOf(error)
    throw new ObjectStoreFailed({ action, object, problem }, { cause: error })
  } finally {
    idle.end()
  }
}

interface IdleLimit {
  readonly signal: AbortSignal
  readonly ms: number
  restart(ms: number): void
  /** True when the caller's signal ended it. */
  isCancelled(): boolean
  end(): void
  /** Ends the request, too. */
  cancel(): void
}

/** Aborts when `ms` pass without a restart, and with the caller's signal. */
function createIdleLimit(ms: number, outer: AbortSignal | undefined): IdleLimit {
  const controller = new AbortController()
  const abort = () => controller.abort(outer?.reason)
  let timer = setTimeout(() => controller.abort(), ms)
  outer?.addEventListener('abort', abort, { once: true })
  if (outer?.aborted) abort()
  const end = () => {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    ms,
    restart: (nextMs) => {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(), nextMs)
    },
    isCancelled: () => outer?.aborted === true,
    end,
    cancel: () => {
      end()
      controller.abort()
    },
  }
}

/** The beginning of an error's body. */
async function readError({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_ERROR_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

function adviceOn(status: number, code: string | undefined): string {
  if (code === 'SignatureDoesNotMatch' || code === 'InvalidAccessKeyId') {
    return '; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and --s3-region'
  }
  if (status === 403) return '; check the credentials and the policy of the bucket'
  if (status === 301 || status === 307) return '; check --s3-endpoint and --s3-region'
  return ''
}

/** fetch puts the reason of a failure into its cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  const { code } = (cause ?? {}) as { code?: string }
  return code ?? messageOf(cause ?? error)
}
