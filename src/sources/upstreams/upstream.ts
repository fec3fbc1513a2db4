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
import { isThrottleCode, type RpcAnswer, type Transport, type UpstreamCall } from './jsonRpc.js'
import { openJsonRpc, type TransportFactory } from './transport.js'
import type { UpstreamAddress, UpstreamLimits } from './types.js'

/** One upstream node with all its state. */
export interface Upstream {
  /** Redacted URL. */
  readonly name: string
  readonly health: Health
  readonly limits: AdaptiveLimits
  readonly features: Features
  /** Whether its chain was compared; see `checkChain`. */
  isChecked: boolean
  /** Returns answers in the order of the calls, requested in batches of the size that the upstream accepts. Leaves
   *  errors of single calls to the caller, apart from throttling. @throws UpstreamError; the reason of `signal`. */
  request(calls: readonly UpstreamCall[], signal?: AbortSignal): Promise<RpcAnswer[]>
  /** Returns the result of one call. @throws UpstreamRpcError for an error answer, and as `request`. */
  call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown>
  /** Returns the result of an answer. @throws UpstreamRpcError */
  resultOf(method: string, answer: RpcAnswer): unknown
  /** Notes a failure that `request` does not see: an error answer that cannot be used. */
  failed(error: UpstreamError): void
  /** Removes credentials from a text of the upstream, for messages. */
  redact(text: string): string
  /** Listens for notifications; absent over HTTP. */
  readonly listen?: NonNullable<Transport['listen']>
  close(): void
}

interface UpstreamParts {
  limits: UpstreamLimits
  clock: Clock
  random: () => number
  log: Logger
  /** Appended to the name, to distinguish upstreams whose redacted URLs are the same. */
  suffix: string
  /** Default: JSON-RPC over HTTP or WebSocket. */
  transport?: TransportFactory
}

/** Creates an upstream that is not connected yet. @throws UsageError for an address that cannot be used. */
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

  /** Sends one request in a slot of its own; reports the outcome to health and limits. */
  const send = async (calls: readonly UpstreamCall[], signal: AbortSignal | undefined): Promise<RpcAnswer[]> => {
    const release = await adaptive.acquire(signal)
    let startedMs = clock.nowMs()
    try {
      // Another request may have been asked to wait while this one waited for its slot.
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
      // Before the slot is free: the next request must see it.
      if (error instanceof UpstreamThrottled) health.pause(error.retryAfterMs ?? THROTTLE_PAUSE_MS)
      throw error
    } finally {
      release()
    }
  }
  const sendWhatFits = async (
    calls: readonly UpstreamCall[],
    signal: AbortSignal | undefined,
  ): Promise<RpcAnswer[]> => {
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
    calls: readonly UpstreamCall[],
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
    // The next connection may reach another node.
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

/** @throws UpstreamThrottled or UpstreamOversized when the upstream answers a call so: then no answer of the batch is
 *  used. */
function throwOverload(name: string, answers: readonly RpcAnswer[], redact: (text: string) => string): void {
  for (const answer of answers) {
    if ('result' in answer) continue
    const { code, message } = answer.error
    const problem = `error ${code}: ${redact(message)}`
    if (isThrottleCode(code)) throw new UpstreamThrottled(name, problem)
    if (OVERSIZED_CODES.includes(code)) throw new UpstreamOversized(name, problem)
  }
}
