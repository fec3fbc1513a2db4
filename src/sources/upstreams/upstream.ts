import type { ChainSpec } from '../../chain/eth/forks/rules.js'
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
import { Health } from './health.js'
import { isThrottleCode, type RpcAnswer, type Transport, type UpstreamCall } from './jsonRpc.js'
import { openJsonRpc, type TransportFactory } from './transport.js'
import type { UpstreamAddress, UpstreamLimits } from './types.js'

interface UpstreamParts {
  limits: UpstreamLimits
  clock: Clock
  random: () => number
  log: Logger
  /** Appended to the name, to distinguish upstreams whose redacted URLs are the same. */
  suffix: string
  /** Rules of its chain. Default: those of Ethereum that blocks are decoded by. */
  spec?: ChainSpec
  /** Default: JSON-RPC over HTTP or WebSocket. */
  transport?: TransportFactory
}

/** One upstream node with all its state. Not connected until it is asked. */
export class Upstream {
  /** Redacted URL. */
  readonly name: string
  readonly health: Health
  readonly limits: AdaptiveLimits
  readonly features: Features
  /** Listens for notifications; undefined over HTTP. */
  readonly listen: Transport['listen']
  /** Removes credentials from a text of the upstream, for messages. */
  readonly redact: (text: string) => string
  /** Rules of its chain, by which its blocks are decoded; undefined: those of Ethereum. */
  readonly spec: ChainSpec | undefined
  /** Whether its chain was compared; see `checkChain`. */
  isChecked = false
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #log: Logger
  #isClosed = false

  /** @throws UsageError for an address that cannot be used */
  constructor(
    given: UpstreamAddress,
    { limits, clock, random, log, suffix, spec, transport: openTransport = openJsonRpc() }: UpstreamParts,
  ) {
    const address = parseUpstreamAddress(given, suffix)
    this.name = address.name
    this.spec = spec
    this.redact = address.redact
    this.health = new Health(clock.nowMs, random)
    this.limits = createAdaptiveLimits(limits.maxConcurrency, limits.maxBatch, clock.nowMs)
    this.features = createFeatures(clock.nowMs)
    this.#transport = openTransport(address, limits, clock.unixMs)
    this.listen = this.#transport.listen
    this.#clock = clock
    this.#log = log
  }

  /** Returns answers in the order of the calls, requested in batches of the size that the upstream accepts. Leaves
   *  errors of single calls to the caller, apart from throttling. @throws UpstreamError; the reason of `signal`. */
  async request(calls: readonly UpstreamCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    return this.#sendInBatches(calls, signal)
  }

  /** Returns the result of one call. @throws UpstreamRpcError for an error answer, and as `request`. */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    return this.resultOf(method, (await this.#sendWhatFits([{ method, params }], signal))[0])
  }

  /** Returns the result of an answer. @throws UpstreamRpcError */
  resultOf(method: string, answer: RpcAnswer): unknown {
    if ('result' in answer) return answer.result
    throw new UpstreamRpcError(this.name, method, answer.error.code, this.redact(answer.error.message))
  }

  /** Notes a failure that `request` does not see: an error answer that cannot be used. */
  failed(error: UpstreamError): void {
    this.#noteFailure(error, this.#clock.nowMs())
  }

  close(): void {
    this.#isClosed = true
    this.#transport.close()
  }

  async #sendInBatches(
    calls: readonly UpstreamCall[],
    signal: AbortSignal | undefined,
    most = Number.POSITIVE_INFINITY,
  ): Promise<RpcAnswer[]> {
    const answers: RpcAnswer[] = []
    while (answers.length < calls.length) {
      const size = Math.max(1, Math.min(this.limits.batchSize, most))
      answers.push(...(await this.#sendWhatFits(calls.slice(answers.length, answers.length + size), signal)))
    }
    return answers
  }

  async #sendWhatFits(calls: readonly UpstreamCall[], signal: AbortSignal | undefined): Promise<RpcAnswer[]> {
    const startedMs = this.#clock.nowMs()
    try {
      return await this.#send(calls, signal)
    } catch (error) {
      if (error instanceof BatchesUnsupported) this.limits.forbidBatches()
      const isSmallerBetter = error instanceof BatchesUnsupported || error instanceof UpstreamOversized
      if (isSmallerBetter && calls.length > 1) return this.#sendInBatches(calls, signal, Math.floor(calls.length / 2))
      if (error instanceof UpstreamError && !this.#isClosed) this.#noteFailure(error, startedMs)
      throw error
    }
  }

  /** Sends one request in a slot of its own; reports the outcome to health and limits. */
  async #send(calls: readonly UpstreamCall[], signal: AbortSignal | undefined): Promise<RpcAnswer[]> {
    const { health, limits, name } = this
    const release = await limits.acquire(signal)
    let startedMs = this.#clock.nowMs()
    try {
      // Another request may have been asked to wait while this one waited for its slot.
      for (let ms = health.pausedForMs; ms > 0; ms = health.pausedForMs) await this.#clock.sleep(ms, signal)
      startedMs = this.#clock.nowMs()
      const answers = await this.#transport.send(calls, signal)
      throwOverload(name, answers, this.redact)
      limits.succeeded(calls.length)
      if (health.state === 'failing') this.#log.info({ upstream: name }, 'the upstream answers again')
      health.succeeded(this.#clock.nowMs() - startedMs)
      return answers
    } catch (error) {
      if (isOverload(error)) limits.overloaded(startedMs)
      // Before the slot is free: the next request must see it.
      if (error instanceof UpstreamThrottled) health.pause(error.retryAfterMs ?? THROTTLE_PAUSE_MS)
      throw error
    } finally {
      release()
    }
  }

  #noteFailure(error: UpstreamError, startedMs: number): void {
    // The next connection may reach another node.
    if (error instanceof UpstreamUnreachable) this.isChecked = false
    const level = this.health.state === 'ok' ? 'warn' : 'debug'
    const retryInMs = Math.round(this.health.failed(startedMs))
    this.#log[level]({ upstream: this.name, error: error.message, retryInMs }, 'a request to the upstream failed')
  }
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
