import { BatchesUnsupported, MalformedAnswer } from './errors.js'

/** A call of a method. */
export interface UpstreamCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** An upstream's answer to a call. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcErrorObject }

/** The error of an answer. `message` is empty if the upstream's is not text. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
}

/** Sends calls to one upstream and returns their answers. */
export interface Transport {
  /** Returns answers in the order of the calls, whatever order they arrived in. One call is sent as an object, more as
   *  a batch.
   *  @throws UpstreamError of any class; the reason of `signal` when it aborts. */
  send(calls: readonly UpstreamCall[], signal?: AbortSignal): Promise<RpcAnswer[]>
  /** Listens for the results of notifications and for the loss of the connection. Absent over HTTP.
   *  @returns a function that stops listening. */
  listen?(listener: (result: unknown) => void, onLost: () => void): () => void
  close(): void
}

/** Encodes the request of the calls, with ids from `firstId` on. */
export function writeRequest(calls: readonly UpstreamCall[], firstId: number): string {
  const requests = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: firstId + i, method, params }))
  return JSON.stringify(requests.length === 1 ? requests[0] : requests)
}

/** Returns the answers to a request of `count` calls with ids from `firstId` on, in the order of the calls.
 *  @throws MalformedAnswer when an id is missing, duplicate or unknown, or an answer has neither result nor error;
 *  BatchesUnsupported when one error answers a batch. */
export function matchAnswers(upstream: string, parsed: unknown, firstId: number, count: number): RpcAnswer[] {
  if (count > 1 && isObject(parsed) && 'error' in parsed) {
    const { code, message } = readError(upstream, parsed.error)
    // A throttled batch is answered in this form too.
    if (isThrottleCode(code)) return new Array(count).fill({ error: { code, message } })
    throw new BatchesUnsupported(upstream, `a batch of ${count} calls was answered with error ${code}`)
  }
  const items = count > 1 ? parsed : [parsed]
  if (!Array.isArray(items)) throw new MalformedAnswer(upstream, 'expected an array in answer to a batch')
  const answers = new Array<RpcAnswer | undefined>(count)
  for (const item of items) {
    const answer = readAnswer(upstream, item)
    // JSON-RPC 2.0, section 5: an error before the id was read has the id null.
    const at = count === 1 && item.id === null && 'error' in answer ? 0 : placeOf(item.id, firstId, count)
    if (at === undefined) throw new MalformedAnswer(upstream, 'an answer has an id that was not asked')
    if (answers[at]) throw new MalformedAnswer(upstream, 'two answers have the same id')
    answers[at] = answer
  }
  if (items.length < count) {
    throw new MalformedAnswer(upstream, `${count - items.length} of ${count} calls of a batch have no answer`)
  }
  return answers as RpcAnswer[]
}

/** True for the codes of too many requests (EIP-1474; 429 as some providers put it). */
export function isThrottleCode(code: number): boolean {
  return code === -32005 || code === 429
}

function placeOf(id: unknown, firstId: number, count: number): number | undefined {
  if (typeof id !== 'number' || !Number.isInteger(id)) return undefined
  return id >= firstId && id < firstId + count ? id - firstId : undefined
}

function readAnswer(upstream: string, item: unknown): RpcAnswer {
  if (!isObject(item)) throw new MalformedAnswer(upstream, 'expected an answer object')
  // Some servers send `error: null` beside a result.
  if (item.error !== undefined && item.error !== null) return { error: readError(upstream, item.error) }
  if (!('result' in item)) throw new MalformedAnswer(upstream, 'an answer has neither result nor error')
  return { result: item.result }
}

function readError(upstream: string, error: unknown): RpcErrorObject {
  if (!isObject(error) || typeof error.code !== 'number') {
    throw new MalformedAnswer(upstream, 'an error has no numeric code')
  }
  return { code: error.code, message: typeof error.message === 'string' ? error.message : '' }
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
