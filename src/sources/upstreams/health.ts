import type { UpstreamStatus } from './types.js'

/** Health of an upstream: a circuit breaker over failed requests, a quarantine after invalid responses, and a score.
 *  Times are those of the clock it was created with. */
export interface Health {
  readonly state: UpstreamStatus['state']
  readonly failures: number
  readonly invalidResponses: number
  readonly latencyMs: number | undefined
  /** When it may be asked again; a past time when it may be asked now. */
  readonly availableAtMs: number
  /** When it may be asked despite an invalid response or a wrong chain, since no other upstream can be: what it sends
   *  is checked again, and it may have recovered. */
  readonly lastResortAtMs: number
  /** Time since the first failure after the last success; 0 when the last request succeeded. */
  readonly failingForMs: number
  /** Remaining time of the pause that it asked for; 0 when it may be asked. */
  readonly pausedForMs: number
  /** Lower is healthier: the latency, raised by recent failures and invalid responses. */
  readonly cost: number
  succeeded(latencyMs: number): void
  /** A request failed: opens the circuit breaker, each time for longer. Failures of requests that were sent before it
   *  opened count as one. @param startedMs when the request was sent @returns how long it is open */
  failed(startedMs: number): number
  /** It sent an invalid response: quarantined, each time for longer. Invalid responses during quarantine were requested
   *  before, and do not count again. @returns how long it is quarantined */
  quarantine(): number
  /** Skips it for `ms`; requests that are sent to it anyway are not blocked. */
  stepBack(ms: number): void
  /** Pauses requests for `ms`, as it asked for. */
  pause(ms: number): void
  /** It is of another chain: not asked for a while, each time for longer. @returns for how long */
  refuse(): number
}

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

/** Creates the health of an upstream that was not asked yet. @param random in [0, 1): back-off times are between half
 *  and whole */
export function createHealth(nowMs: () => number, random: () => number): Health {
  let consecutive = 0
  let failures = 0
  let invalidResponses = 0
  let failingSinceMs = 0
  let openUntilMs = Number.NEGATIVE_INFINITY
  let openedMs = Number.NEGATIVE_INFINITY
  let quarantinedUntilMs = Number.NEGATIVE_INFINITY
  let wrongAtMs = Number.NEGATIVE_INFINITY
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let steppedBackUntilMs = Number.NEGATIVE_INFINITY
  let refusals = 0
  let refusedUntilMs = Number.NEGATIVE_INFINITY
  let latencyMs: number | undefined
  let successRate = 1
  const rate = (success: number) => {
    successRate += AVERAGE_WEIGHT * (success - successRate)
  }
  const grow = (firstMs: number, maxMs: number, count: number) =>
    Math.min(maxMs, firstMs * 2 ** Math.min(count - 1, 30)) * (0.5 + random() / 2)
  return {
    get state() {
      if (nowMs() < refusedUntilMs) return 'refused'
      if (nowMs() < quarantinedUntilMs) return 'quarantined'
      return consecutive > 0 ? 'failing' : 'ok'
    },
    get failures() {
      return failures
    },
    get invalidResponses() {
      return invalidResponses
    },
    get latencyMs() {
      return latencyMs
    },
    get availableAtMs() {
      return Math.max(openUntilMs, quarantinedUntilMs, pausedUntilMs, steppedBackUntilMs, refusedUntilMs)
    },
    get lastResortAtMs() {
      const wrongUntilMs = Math.max(quarantinedUntilMs, refusedUntilMs)
      return Math.max(openUntilMs, pausedUntilMs, Math.min(wrongUntilMs, wrongAtMs + LAST_RESORT_MS))
    },
    get failingForMs() {
      return consecutive === 0 ? 0 : nowMs() - failingSinceMs
    },
    get pausedForMs() {
      return Math.max(0, pausedUntilMs - nowMs())
    },
    get cost() {
      return ((latencyMs ?? 0) + BASE_COST_MS) / Math.max(successRate, 0.01) ** 2
    },
    succeeded: (ms) => {
      consecutive = 0
      latencyMs = latencyMs === undefined ? ms : latencyMs + AVERAGE_WEIGHT * (ms - latencyMs)
      rate(1)
    },
    failed: (startedMs) => {
      if (startedMs < openedMs) return openUntilMs - openedMs
      openedMs = nowMs()
      failures++
      if (consecutive++ === 0) failingSinceMs = openedMs
      rate(0)
      const ms = grow(FIRST_BACKOFF_MS, MAX_BACKOFF_MS, consecutive)
      openUntilMs = openedMs + ms
      return ms
    },
    quarantine: () => {
      const isRetried = nowMs() >= wrongAtMs + LAST_RESORT_MS
      if (nowMs() < quarantinedUntilMs && !isRetried) return quarantinedUntilMs - nowMs()
      wrongAtMs = nowMs()
      invalidResponses++
      rate(0)
      const ms = grow(FIRST_QUARANTINE_MS, MAX_QUARANTINE_MS, invalidResponses)
      quarantinedUntilMs = nowMs() + ms
      return ms
    },
    stepBack: (ms) => {
      steppedBackUntilMs = nowMs() + ms
    },
    pause: (ms) => {
      pausedUntilMs = Math.max(pausedUntilMs, nowMs() + ms)
    },
    refuse: () => {
      wrongAtMs = nowMs()
      const ms = grow(FIRST_REFUSAL_MS, MAX_REFUSAL_MS, ++refusals)
      refusedUntilMs = nowMs() + ms
      return ms
    },
  }
}
