import type { UpstreamStatus } from './types.js'

const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
const FIRST_QUARANTINE_MS = 60_000
const MAX_QUARANTINE_MS = 6 * 3_600_000
// Its address may have another node again, and two small requests are enough to check.
const FIRST_REFUSAL_MS = 10_000
const MAX_REFUSAL_MS = 600_000
// An upstream without an alternative is tried again after this, so that following resumes within a minute of its
// recovery.
const LAST_RESORT_MS = 20_000
const AVERAGE_WEIGHT = 0.2
// A fast upstream that was not measured yet and a slow one differ by more than this.
const BASE_COST_MS = 50

/** Health of an upstream: a circuit breaker over failed requests, a quarantine after invalid responses, and a score.
 *  Times are those of its clock. Healthy until it is asked. */
export class Health {
  readonly #nowMs: () => number
  readonly #random: () => number
  #consecutive = 0
  #failures = 0
  #invalidResponses = 0
  #failingSinceMs = 0
  #openUntilMs = Number.NEGATIVE_INFINITY
  #openedMs = Number.NEGATIVE_INFINITY
  #quarantinedUntilMs = Number.NEGATIVE_INFINITY
  #wrongAtMs = Number.NEGATIVE_INFINITY
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #steppedBackUntilMs = Number.NEGATIVE_INFINITY
  #refusals = 0
  #refusedUntilMs = Number.NEGATIVE_INFINITY
  #latencyMs: number | undefined
  #successRate = 1

  /** @param random in [0, 1): back-off times are between half and whole */
  constructor(nowMs: () => number, random: () => number) {
    this.#nowMs = nowMs
    this.#random = random
  }

  get state(): UpstreamStatus['state'] {
    if (this.#nowMs() < this.#refusedUntilMs) return 'refused'
    if (this.#nowMs() < this.#quarantinedUntilMs) return 'quarantined'
    return this.#consecutive > 0 ? 'failing' : 'ok'
  }

  get failures(): number {
    return this.#failures
  }

  get invalidResponses(): number {
    return this.#invalidResponses
  }

  get latencyMs(): number | undefined {
    return this.#latencyMs
  }

  /** When it may be asked again; a past time when it may be asked now. */
  get availableAtMs(): number {
    return Math.max(
      this.#openUntilMs,
      this.#quarantinedUntilMs,
      this.#pausedUntilMs,
      this.#steppedBackUntilMs,
      this.#refusedUntilMs,
    )
  }

  /** When it may be asked despite an invalid response or a wrong chain, since no other upstream can be: what it sends
   *  is checked again, and it may have recovered. */
  get lastResortAtMs(): number {
    const wrongUntilMs = Math.max(this.#quarantinedUntilMs, this.#refusedUntilMs)
    return Math.max(this.#openUntilMs, this.#pausedUntilMs, Math.min(wrongUntilMs, this.#wrongAtMs + LAST_RESORT_MS))
  }

  /** Time since the first failure after the last success; 0 when the last request succeeded. */
  get failingForMs(): number {
    return this.#consecutive === 0 ? 0 : this.#nowMs() - this.#failingSinceMs
  }

  /** Remaining time of the pause that it asked for; 0 when it may be asked. */
  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#nowMs())
  }

  /** Lower is healthier: the latency, raised by recent failures and invalid responses. */
  get cost(): number {
    return ((this.#latencyMs ?? 0) + BASE_COST_MS) / Math.max(this.#successRate, 0.01) ** 2
  }

  succeeded(latencyMs: number): void {
    this.#consecutive = 0
    this.#latencyMs ??= latencyMs
    this.#latencyMs += AVERAGE_WEIGHT * (latencyMs - this.#latencyMs)
    this.#rate(1)
  }

  /** A request failed: opens the circuit breaker, each time for longer. Failures of requests that were sent before it
   *  opened count as one. @param startedMs when the request was sent @returns how long it is open */
  failed(startedMs: number): number {
    if (startedMs < this.#openedMs) return this.#openUntilMs - this.#openedMs
    this.#openedMs = this.#nowMs()
    this.#failures++
    if (this.#consecutive++ === 0) this.#failingSinceMs = this.#openedMs
    this.#rate(0)
    const ms = this.#backOff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS, this.#consecutive)
    this.#openUntilMs = this.#openedMs + ms
    return ms
  }

  /** It sent an invalid response: quarantined, each time for longer. Invalid responses during quarantine were requested
   *  before, and do not count again. @returns how long it is quarantined */
  quarantine(): number {
    const nowMs = this.#nowMs()
    const isRetried = nowMs >= this.#wrongAtMs + LAST_RESORT_MS
    if (nowMs < this.#quarantinedUntilMs && !isRetried) return this.#quarantinedUntilMs - nowMs
    this.#wrongAtMs = nowMs
    this.#invalidResponses++
    this.#rate(0)
    const ms = this.#backOff(FIRST_QUARANTINE_MS, MAX_QUARANTINE_MS, this.#invalidResponses)
    this.#quarantinedUntilMs = nowMs + ms
    return ms
  }

  /** Skips it for `ms`; requests that are sent to it anyway are not blocked. */
  stepBack(ms: number): void {
    this.#steppedBackUntilMs = this.#nowMs() + ms
  }

  /** Pauses requests for `ms`, as it asked for. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#nowMs() + ms)
  }

  /** It is of another chain: not asked for a while, each time for longer. @returns for how long */
  refuse(): number {
    this.#wrongAtMs = this.#nowMs()
    const ms = this.#backOff(FIRST_REFUSAL_MS, MAX_REFUSAL_MS, ++this.#refusals)
    this.#refusedUntilMs = this.#nowMs() + ms
    return ms
  }

  #rate(success: 0 | 1): void {
    this.#successRate += AVERAGE_WEIGHT * (success - this.#successRate)
  }

  #backOff(firstMs: number, maxMs: number, count: number): number {
    return Math.min(maxMs, firstMs * 2 ** Math.min(count - 1, 30)) * (0.5 + this.#random() / 2)
  }
}
