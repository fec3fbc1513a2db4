import { BaseError, type Client, createClient, HttpRequestError, http, TimeoutError } from 'viem'
import { apiKey, endpoint, keyHeaders, noteRefusal } from './session.js'
import { createStore } from './store.js'

/** True while the server answers. */
export const isOnline = createStore(true)

/** A call that failed. */
export class CallFailed extends Error {
  /** `offline`: no response; `key`: the key is missing or wrong; `call`: the server refused the call. */
  readonly kind: 'offline' | 'key' | 'call'
  /** The JSON-RPC code, if any. */
  readonly code: number | undefined
  readonly data: unknown
  constructor(kind: CallFailed['kind'], message: string, { code, data }: { code?: number; data?: unknown } = {}) {
    super(message)
    this.kind = kind
    this.code = code
    this.data = data
  }
}

const METHOD_NOT_FOUND = -32601

/** Traces may run for a minute. */
const TIMEOUT_MS = 90_000

/** One client for single calls and one that batches concurrent calls; recreated for another key. */
let clients: { key: string; single: Client; batching: Client } | undefined

function currentClients() {
  const key = apiKey.get()
  if (clients?.key === key) return clients
  const settings = { fetchOptions: { headers: keyHeaders() }, retryCount: 0, timeout: TIMEOUT_MS }
  const single = createClient({ transport: http(endpoint('v3'), settings) })
  const batching = createClient({ transport: http(endpoint('v3'), { ...settings, batch: { batchSize: 100 } }) })
  clients = { key, single, batching }
  return clients
}

/** Calls a method and returns its result. @throws CallFailed */
export function call<T>(method: string, params: unknown = []): Promise<T> {
  return send<T>('single', method, params)
}

/** Like `call`, in one batch with concurrent calls. @throws CallFailed */
export function callInBatch<T>(method: string, params: unknown = []): Promise<T> {
  return send<T>('batching', method, params)
}

/** Like `call`; undefined if the server has no such method. @throws CallFailed */
export async function callIfServed<T>(method: string, params: unknown = []): Promise<T | undefined> {
  try {
    return await call<T>(method, params)
  } catch (error) {
    if (error instanceof CallFailed && error.code === METHOD_NOT_FOUND) return undefined
    throw error
  }
}

async function send<T>(kind: 'single' | 'batching', method: string, params: unknown): Promise<T> {
  const { key, [kind]: client } = currentClients()
  try {
    const result = await client.request({ method, params } as never)
    isOnline.set(true)
    return result as T
  } catch (error) {
    const failure = describeFailure(error)
    isOnline.set(failure.kind !== 'offline')
    if (failure.kind === 'key') noteRefusal(key, failure.message)
    throw failure
  }
}

function describeFailure(error: unknown): CallFailed {
  if (!(error instanceof BaseError)) return new CallFailed('call', String(error))
  const http = error.walk((each) => each instanceof HttpRequestError) as HttpRequestError | null
  if (http !== null) {
    if (http.status === undefined) return new CallFailed('offline', 'the server does not answer')
    const { message, code } = readEnvelope(http.details)
    return new CallFailed(http.status === 401 ? 'key' : 'call', message, { code })
  }
  if (error.walk((each) => each instanceof TimeoutError) !== null) {
    return new CallFailed('call', `no answer within ${TIMEOUT_MS / 1000} s`)
  }
  const answered = error.walk((each) => typeof (each as { code?: unknown }).code === 'number')
  const { code, data } = (answered ?? error) as { code?: number; data?: unknown }
  return new CallFailed('call', error.details || error.shortMessage, { code, data })
}

/** Returns message and code of a JSON-RPC error in the text, else the text itself. */
function readEnvelope(text: string): { message: string; code?: number } {
  try {
    const { message, code } = JSON.parse(text) as { message?: string; code?: number }
    return { message: message ?? text, code }
  } catch {
    return { message: text }
  }
}
