import type { Logger } from '../../lib/logger.js'
import { type AdaptiveLimits, createAdaptiveLimits } from './adaptiveLimits.js'
import type { Clock } from './clock.js'
import { parseUpstreamAddress } from './describeUrl.js'
import {
  BatchesUnsupported,
  UpstreamError,
  UpstreamOversized,
  UpstreamRpcError,
  UpstreamThrottled,
  UpstreamTimeout,
  UpstreamUnreachable,
} from './errors.js'
import { createFeatures, type Features } from './features.js'
import { createHealth, type Health } from './health.js'
import { isThrottleCode, type RpcAnswer, type RpcCall, type Transport } from './jsonRpc.js'
import { openJsonRpc, type TransportFactory } from './transport.js'
import type { UpstreamAddress, UpstreamLimits } from './types.js'

/** One upstream node with all that is known of it. */
export interface Upstream {
  /** Redacted URL. */
  readonly name: string
  readonly health: Health
  readonly limits: AdaptiveLimits
  readonly features: Features
  /** Whether its chain was compared; see `checkChain`. */
  isChecked: boolean
  /** Answers in the order of the calls, asked in batches of the size that the upstream takes. Errors of single calls are left
   *  to the caller, apart from throttling. @throws UpstreamError; the reason of `signal`. */
  request(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]>
  /** The result of one call. @throws UpstreamRpcError for an error answer, and as `request`. */
  call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown>
  /** The result of an answer. @throws UpstreamRpcError */
  resultOf(method: string, answer: RpcAnswer): unknown
  /** A failure that `request` does not see: an error answer that nothing can be made of. */
  failed(error: UpstreamError): void
  /** A text of the upstream without credentials, for messages. */
  redact(text: string): string
  /** Hears notifications; absent over HTTP. */
  readonly listen?: NonNullable<Transport['listen']>
  close(): void
}

interface UpstreamParts {
  limits: UpstreamLimits
  clock: Clock
  random: () => number
  log: Logger
  /** Put behind the name, to tell upstreams apart whose redacted URLs are the same. */
  suffix: string
  /** JSON-RPC over HTTP or WebSocket unless told. */
  transport?: TransportFactory
}

/** An upstream that is not connected yet. @throws UsageError for an address that cannot be used. */
export function createUpstream(
  given: UpstreamAddress,
  { limits, clock, random, log, suffix, transport: openTransport = openJsonRpc() }: UpstreamParts,
): Upstream {
  const address = parseUpstreamAddress(given, suffix)
  const { name } = address
  const transport = openTransport(address, limits, clock.unixMs)
  const health = createHealth(clock.nowMs, random)
  const adaptive = createAdaptiveLimits(limits.maxConcurrency, limits.maxBatch, clock.nowMs)
  let closed = false

  /** Sends one request in a place of its own; tells health and limits how it went. */
  const send = async (calls: readonly RpcCall[], signal: AbortSignal | undefined): Promise<RpcAnswer[]> => {
    const release = await adaptive.acquire(signal)
    let startedMs = clock.nowMs()
    try {
      // Another request may have been told to wait while this one waited for its place.
      for (let ms = health.pausedForMs; ms > 0; ms = health.pausedForMs) await clock.sleep(ms, signal)
      startedMs = clock.nowMs()
      const answers = await transport.send(calls, signal)
      throwOverload(name, answers, address.redact)
      adaptive.succeeded(calls.length)
      if (health.state === 'failing') log.info({ upstream: name }, 'the upstream answers again')
      health.succeeded(clock.nowMs() - startedMs)
      return answers
    } catch (error) {
      if (isOverload(error)) adaptive.overloaded(startedMs)
      // Before the place is free: the next request must find it.
      if (error instanceof UpstreamThrottled) health.pause(error.retryAfterMs ?? THROTTLE_PAUSE_MS)
      throw error
    } finally {
      release()
    }
  }
  const sendWhatFits = async (calls: readonly RpcCall[], signal: AbortSignal | undefined): Promise<RpcAnswer[]> => {
    const startedMs = clock.nowMs()
    try {
      return await send(calls, signal)
    } catch (error) {
      if (error instanceof BatchesUnsupported) adaptive.forbidBatches()
      const isSmallerBetter = error instanceof BatchesUnsupported || error instanceof UpstreamOversized
      if (isSmallerBetter && calls.length > 1) return sendInBatches(calls, signal, Math.floor(calls.length / 2))
      if (error instanceof UpstreamError && !closed) noteFailure(error, startedMs)
      throw error
    }
  }
  const sendInBatches = async (
    calls: readonly RpcCall[],
    signal: AbortSignal | undefined,
    most = Number.POSITIVE_INFINITY,
  ): Promise<RpcAnswer[]> => {
    const answers: RpcAnswer[] = []
    while (answers.length < calls.length) {
      const size = Math.max(1, Math.min(adaptive.batchSize, most))
      answers.push(...(await sendWhatFits(calls.slice(answers.length, answers.length + size), signal)))
    }
    return answers
  }
  const noteFailure = (error: UpstreamError, startedMs: number) => {
    // What is reached next may be another node.
    if (error instanceof UpstreamUnreachable) upstream.isChecked = false
    const wasOk = health.state === 'ok'
    const retryInMs = Math.round(health.failed(startedMs))
    if (wasOk) log.warn({ upstream: name, error: error.message, retryInMs }, 'a request to the upstream failed')
    else log.debug({ upstream: name, error: error.message, retryInMs }, 'a request to the upstream failed')
  }
  const resultOf = (method: string, answer: RpcAnswer): unknown => {
    if ('result' in answer) return answer.result
    throw new UpstreamRpcError(name, method, answer.error.code, address.redact(answer.error.message))
  }

  const upstream: Upstream = {
    name,
    health,
    limits: adaptive,
    features: createFeatures(clock.nowMs),
    isChecked: false,
    request: (calls, signal) => sendInBatches(calls, signal),
    resultOf,
    call: async (method, params, signal) => resultOf(method, (await sendWhatFits([{ method, params }], signal))[0]),
    failed: (error) => noteFailure(error, clock.nowMs()),
    redact: address.redact,
    listen: transport.listen,
    close: () => {
      closed = true
      transport.close()
    },
  }
  return upstream
}

// Without Retry-After the back-off of the circuit breaker follows; this is the least.
const THROTTLE_PAUSE_MS = 250

function isOverload(error: unknown): boolean {
  return error instanceof UpstreamThrottled || error instanceof UpstreamTimeout || error instanceof UpstreamOversized
}

// Codes of answers that would be too large: geth, and what several providers use.
const OVERSIZED_CODES = [-32003, -32008]

/** @throws UpstreamThrottled or UpstreamOversized when the upstream answers a call so: then none of the batch is used. */
function throwOverload(name: string, answers: readonly RpcAnswer[], redact: (text: string) => string): void {
  for (const answer of answers) {
    if ('result' in answer) continue
    const { code, message } = answer.error
    const problem = `error ${code}: ${redact(message)}`
    if (isThrottleCode(code)) throw new UpstreamThrottled(name, problem)
    if (OVERSIZED_CODES.includes(code)) throw new UpstreamOversized(name, problem)
  }
}
