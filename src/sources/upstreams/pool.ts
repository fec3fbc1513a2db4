import type { Logger } from '../../lib/logger.js'
import type { Clock } from './clock.js'
import {
  UpstreamError,
  UpstreamInvalidResponse,
  UpstreamLacksData,
  UpstreamRpcError,
  UpstreamsClosed,
  WrongChain,
} from './errors.js'
import { linkAbort } from './linkedAbort.js'
import type { UpstreamStatus } from './types.js'
import type { Upstream } from './upstream.js'

/** Why the upstreams send nothing usable. */
export interface Stall {
  readonly error: UpstreamError
  readonly ms: number
}

interface PoolOptions {
  /** Compares the chain of an upstream before its first use, and after its connection was lost. @throws WrongChain,
   *  UpstreamError */
  checkChain(upstream: Upstream, signal: AbortSignal | undefined): Promise<void>
  log: Logger
  clock: Clock
  /** Failures after which `run` throws the last one, as it does at once for an invalid response of all upstreams.
   *  Default: it waits. */
  maxFailures?: number
}

const LEAST_WAIT_MS = 10
// While one request probes whether an upstream has recovered, others check this often.
const TRIAL_WAIT_MS = 25
const REMIND_MS = 30_000
const SILENT_MS = 1000
// Another upstream must be twice as good: switching back and forth has no benefit, between forks least of all.
const PREFERENCE = 0.5
// An invalid response that no other upstream corrects within this time stops following.
const STALL_MS = 5000

/** The upstreams of one chain: runs tasks at the healthiest one. */
export class Pool {
  readonly upstreams: readonly Upstream[]
  readonly #checkChain: PoolOptions['checkChain']
  readonly #log: Logger
  readonly #clock: Clock
  readonly #waitLog: WaitLog
  readonly #closing = linkAbort()
  readonly #maxFailures: number
  #current: Upstream
  #isChainKnown = false
  /** The last invalid response since something was stored. */
  #wrong: { error: UpstreamError; sinceMs: number } | undefined
  #lastFailure: UpstreamError | undefined
  #lastWrongChain: WrongChain | undefined

  constructor(upstreams: readonly Upstream[], { checkChain, log, clock, maxFailures }: PoolOptions) {
    this.upstreams = upstreams
    this.#current = upstreams[0]
    this.#checkChain = checkChain
    this.#maxFailures = maxFailures ?? Number.POSITIVE_INFINITY
    this.#log = log
    this.#clock = clock
    this.#waitLog = new WaitLog(log, clock)
  }

  /** Compares the chain of every upstream that can be reached. @throws WrongChain */
  async checkAll(signal?: AbortSignal): Promise<void> {
    // All checks end before one is reported: a check still running would set the state of its upstream later.
    const checks = this.upstreams.map((upstream) => this.runAt(upstream, async () => {}, signal))
    for (const check of await Promise.allSettled(checks)) {
      if (check.status === 'fulfilled') continue
      // An unreachable upstream is compared before its first use.
      if (!(check.reason instanceof UpstreamError) || check.reason instanceof WrongChain) throw check.reason
    }
  }

  /** Returns the result of the task at the healthiest upstream; when it fails there, at another one. While none can be
   *  asked, waits.
   *  @throws UpstreamLacksData when the task threw it at every upstream that could be asked; WrongChain when all
   *  upstreams are of other chains, and none was of this one before; the reason of `signal`; any error of the task that
   *  is not an UpstreamError; with `maxFailures` the last UpstreamError. */
  async run<T>(task: (upstream: Upstream) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const excluded = new Set<Upstream>()
    let lastError: UpstreamError | undefined
    let lacksData: UpstreamLacksData | undefined
    for (let failures = 0; ; ) {
      signal?.throwIfAborted()
      this.#throwIfWrong()
      this.#closing.signal.throwIfAborted()
      const upstream = this.#pick(excluded)
      if (!upstream) {
        if (lacksData) throw lacksData
        if (this.#areAllRefused()) throw lastError ?? this.#lastWrongChain
        await this.#wait(excluded, signal)
        continue
      }
      try {
        const result = await this.runAt(upstream, task, signal)
        this.#current = upstream
        this.#waitLog.over(upstream)
        return result
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        lastError = error
        if (!(error instanceof UpstreamLacksData)) {
          if (++failures >= this.#maxFailures) throw error
          continue
        }
        excluded.add(upstream)
        lacksData = error
      }
    }
  }

  /** As `run`; undefined where no upstream that could be asked has it. `what` names it in messages. */
  async find<T>(
    what: string,
    task: (upstream: Upstream) => Promise<T | undefined>,
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    try {
      return await this.run(async (upstream) => {
        const found = await task(upstream)
        if (found === undefined) throw new UpstreamLacksData(upstream.name, what)
        return found
      }, signal)
    } catch (error) {
      if (error instanceof UpstreamLacksData) return undefined
      throw error
    }
  }

  /** As `run`, only at `upstream`: throws its failures. */
  async runAt<T>(upstream: Upstream, task: (upstream: Upstream) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      if (!upstream.isChecked) {
        await this.#checkChain(upstream, signal)
        upstream.isChecked = true
        this.#isChainKnown = true
      }
      return await task(upstream)
    } catch (error) {
      this.#noteFailure(upstream, error)
      throw error
    }
  }

  /** Quarantines an upstream that sent an invalid response. */
  quarantine(upstream: Upstream, error: UpstreamInvalidResponse): void {
    const { check, problem, blockNumber } = error
    this.#wrong = { error, sinceMs: this.#wrong?.sinceMs ?? this.#clock.nowMs() }
    const ms = Math.round(upstream.health.quarantine())
    const fields = { upstream: upstream.name, check, blockNumber, problem, quarantineMs: ms }
    this.#log.warn(fields, 'invalid response; the upstream is quarantined')
  }

  /** Returns the upstream that the next task would run at; undefined while none can be asked. */
  preferred(): Upstream | undefined {
    return this.#pick()
  }

  /** False while it is skipped after failures or invalid responses. */
  isAvailable({ health }: Upstream): boolean {
    return this.#clock.nowMs() >= health.availableAtMs
  }

  /** Prefers this upstream as long as it is about as healthy as the others. */
  prefer(upstream: Upstream): void {
    this.#current = upstream
  }

  /** Status of each upstream, in order. */
  status(): UpstreamStatus[] {
    return this.upstreams.map((upstream) => statusOf(upstream, this.#clock.nowMs()))
  }

  /** Why the upstreams send nothing usable, and for how long; undefined while they answer with valid data. */
  stall(): Stall | undefined {
    const wrong = this.#wrong
    const waitedMs = this.#waitLog.waitingMs()
    const wrongMs = wrong === undefined ? 0 : this.#clock.nowMs() - wrong.sinceMs
    const isStopped = wrong !== undefined && (wrongMs > STALL_MS || this.#pick() === undefined)
    const ms = Math.max(waitedMs > STALL_MS ? waitedMs : 0, isStopped ? wrongMs : 0)
    const error = wrong?.error ?? this.#lastFailure
    return error && (isStopped || ms > 0) ? { error, ms } : undefined
  }

  /** True after an invalid response, until `progressed`. */
  get isDoubted(): boolean {
    return this.#wrong !== undefined
  }

  /** Data of the upstreams was stored, or their head is: their earlier errors no longer count as a stall. */
  progressed(): void {
    this.#wrong = undefined
  }

  /** Closes the upstreams. Running, waiting and later tasks reject with UpstreamsClosed. */
  close(): void {
    this.#closing.abort(new UpstreamsClosed())
    for (const upstream of this.upstreams) upstream.close()
  }

  /** With `maxFailures`: @throws UpstreamInvalidResponse once all upstreams sent one */
  #throwIfWrong(): void {
    if (this.#maxFailures === Number.POSITIVE_INFINITY || this.#wrong === undefined) return
    if (this.upstreams.every(({ health }) => isWrong(health))) throw this.#wrong.error
  }

  #pick(excluded?: ReadonlySet<Upstream>): Upstream | undefined {
    const nowMs = this.#clock.nowMs()
    let best: Upstream | undefined
    let bestCost = Number.POSITIVE_INFINITY
    for (const upstream of this.upstreams) {
      const { health, limits } = upstream
      if (excluded?.has(upstream) || nowMs < this.#askableAtMs(upstream)) continue
      // Half-open: one request at a time probes whether it has recovered; beside one that hangs, one a second.
      if (health.state === 'failing' && limits.isAwaited) continue
      const cost = health.cost * (upstream === this.#current ? PREFERENCE : 1)
      if (cost < bestCost) [best, bestCost] = [upstream, cost]
    }
    return best
  }

  /** An upstream that has an alternative is skipped for its whole quarantine. */
  #askableAtMs({ health }: Upstream): number {
    const isAlone = this.upstreams.every((each) => isWrong(each.health))
    return isAlone ? health.lastResortAtMs : health.availableAtMs
  }

  #areAllRefused(): boolean {
    return !this.#isChainKnown && this.upstreams.every(({ health }) => health.state === 'refused')
  }

  /** Waits until an upstream can be asked, or until it is time to look again. */
  async #wait(excluded: ReadonlySet<Upstream>, signal: AbortSignal | undefined): Promise<void> {
    const times = this.upstreams.filter((each) => !excluded.has(each)).map((each) => this.#askableAtMs(each))
    const soonest = Math.min(...times) - this.#clock.nowMs()
    const ms = soonest > 0 ? Math.max(soonest, LEAST_WAIT_MS) : TRIAL_WAIT_MS
    this.#waitLog.waiting(this.upstreams, ms)
    const linked = linkAbort(signal, this.#closing.signal)
    await this.#clock.sleep(ms, linked.signal).finally(linked.release)
  }

  #noteFailure(upstream: Upstream, error: unknown): void {
    if (error instanceof UpstreamInvalidResponse) this.quarantine(upstream, error)
    if (error instanceof UpstreamRpcError) upstream.failed(error)
    if (error instanceof UpstreamError && !(error instanceof UpstreamLacksData)) this.#lastFailure = error
    if (!(error instanceof WrongChain)) return
    this.#lastWrongChain = error
    if (!isNewlyWrong(upstream.health, this.#clock.nowMs())) return
    const retryInMs = Math.round(upstream.health.refuse())
    const fields = { upstream: upstream.name, error: error.message, retryInMs }
    this.#log.error(fields, 'the upstream is of another chain; it is not used')
  }
}

/** True while it is quarantined, or refused as one of another chain. */
function isWrong({ state }: Upstream['health']): boolean {
  return state === 'quarantined' || state === 'refused'
}

/** True unless another task has just quarantined or refused it. */
function isNewlyWrong({ state, lastResortAtMs }: Upstream['health'], nowMs: number): boolean {
  return state !== 'refused' || nowMs >= lastResortAtMs
}

function statusOf({ name, health, limits }: Upstream, nowMs: number): UpstreamStatus {
  const { state, failures, invalidResponses, latencyMs, availableAtMs } = health
  const { concurrency, batchSize } = limits
  const retryInMs = Math.max(0, availableAtMs - nowMs)
  return { upstream: name, state, retryInMs, concurrency, batchSize, latencyMs, failures, invalidResponses }
}

/** Logs that no upstream can be asked: after a second, every half minute, and when it is over. */
class WaitLog {
  readonly #log: Logger
  readonly #clock: Clock
  #sinceMs: number | undefined
  #loggedMs: number | undefined

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  waiting(upstreams: readonly Upstream[], ms: number): void {
    const nowMs = this.#clock.nowMs()
    this.#sinceMs ??= nowMs
    const dueMs = this.#loggedMs === undefined ? this.#sinceMs + SILENT_MS : this.#loggedMs + REMIND_MS
    if (nowMs + ms < dueMs) return
    this.#loggedMs = nowMs
    const states = upstreams.map(({ name, health }) => `${name}: ${health.state}`)
    this.#log.warn({ upstreams: states, retryInMs: Math.round(ms) }, 'no upstream can be asked; waiting')
  }

  waitingMs(): number {
    return this.#sinceMs === undefined ? 0 : this.#clock.nowMs() - this.#sinceMs
  }

  over(upstream: Upstream): void {
    if (this.#loggedMs !== undefined) this.#log.info({ upstream: upstream.name }, 'an upstream can be asked again')
    this.#loggedMs = undefined
    this.#sinceMs = undefined
  }
}
