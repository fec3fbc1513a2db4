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

/** The upstreams of one chain: runs tasks at the healthiest one. */
export interface Pool {
  readonly upstreams: readonly Upstream[]
  /** Compares the chain of every upstream that can be reached. @throws WrongChain */
  checkAll(signal?: AbortSignal): Promise<void>
  /** Returns the result of the task at the healthiest upstream; when it fails there, at another one. While none can be
   *  asked, waits.
   *  @throws UpstreamLacksData when the task threw it at every upstream that could be asked; WrongChain when all
   *  upstreams are of other chains, and none was of this one before; the reason of `signal`; any error of the task that
   *  is not an UpstreamError. */
  run<T>(task: (upstream: Upstream) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** As `run`; undefined where no upstream that could be asked has it. `what` names it in messages. */
  find<T>(
    what: string,
    task: (upstream: Upstream) => Promise<T | undefined>,
    signal?: AbortSignal,
  ): Promise<T | undefined>
  /** As `run`, only at `upstream`: throws its failures. */
  runAt<T>(upstream: Upstream, task: (upstream: Upstream) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Quarantines an upstream that sent an invalid response. */
  quarantine(upstream: Upstream, error: UpstreamInvalidResponse): void
  /** Returns the upstream that the next task would run at; undefined while none can be asked. */
  preferred(): Upstream | undefined
  /** False while it is skipped after failures or invalid responses. */
  isAvailable(upstream: Upstream): boolean
  /** Prefers this upstream as long as it is about as healthy as the others. */
  prefer(upstream: Upstream): void
  /** Status of each upstream, in order. */
  status(): UpstreamStatus[]
  /** Why the upstreams send nothing usable, and for how long; undefined while they answer with valid data. */
  stall(): Stall | undefined
  /** Data of the upstreams was stored: their earlier errors no longer count as a stall. */
  progressed(): void
  /** Closes the upstreams. Running, waiting and later tasks reject with UpstreamsClosed. */
  close(): void
}

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

/** Creates a pool over the upstreams. */
export function createPool(upstreams: readonly Upstream[], { checkChain, log, clock }: PoolOptions): Pool {
  let current = upstreams[0]
  const closing = linkAbort()
  const sleep = async (ms: number, signal: AbortSignal | undefined) => {
    const linked = linkAbort(signal, closing.signal)
    await clock.sleep(ms, linked.signal).finally(linked.release)
  }
  const waitLog = createWaitLog(log, clock)
  let isChainKnown = false
  /** The last invalid response since something was stored. */
  let wrong: { error: UpstreamError; sinceMs: number } | undefined
  let lastFailure: UpstreamError | undefined
  let lastWrongChain: WrongChain | undefined

  const pick = (excluded?: ReadonlySet<Upstream>): Upstream | undefined => {
    const nowMs = clock.nowMs()
    let best: Upstream | undefined
    let bestCost = Number.POSITIVE_INFINITY
    // An upstream that has an alternative is skipped for its whole quarantine.
    const isAlone = upstreams.every(({ health }) => isWrong(health))
    for (const upstream of upstreams) {
      const { health, limits } = upstream
      if (excluded?.has(upstream) || nowMs < (isAlone ? health.lastResortAtMs : health.availableAtMs)) continue
      // Half-open: one request at a time probes whether it has recovered.
      if (health.state === 'failing' && limits.inFlight > 0) continue
      const cost = health.cost * (upstream === current ? PREFERENCE : 1)
      if (cost < bestCost) [best, bestCost] = [upstream, cost]
    }
    return best
  }
  const waitMs = (excluded: ReadonlySet<Upstream>): number => {
    const isAlone = upstreams.every(({ health }) => isWrong(health))
    const times = upstreams
      .filter((each) => !excluded.has(each))
      .map(({ health }) => (isAlone ? health.lastResortAtMs : health.availableAtMs))
    const soonest = Math.min(...times) - clock.nowMs()
    return soonest > 0 ? Math.max(soonest, LEAST_WAIT_MS) : TRIAL_WAIT_MS
  }
  const quarantine = (upstream: Upstream, error: UpstreamInvalidResponse) => {
    const { check, problem, blockNumber } = error
    wrong = { error, sinceMs: wrong?.sinceMs ?? clock.nowMs() }
    const ms = Math.round(upstream.health.quarantine())
    const fields = { upstream: upstream.name, check, blockNumber, problem, quarantineMs: ms }
    log.warn(fields, 'invalid response; the upstream is quarantined')
  }
  const runAt: Pool['runAt'] = async (upstream, task, signal) => {
    try {
      if (!upstream.isChecked) {
        await checkChain(upstream, signal)
        upstream.isChecked = true
        isChainKnown = true
      }
      return await task(upstream)
    } catch (error) {
      if (error instanceof UpstreamInvalidResponse) quarantine(upstream, error)
      if (error instanceof UpstreamRpcError) upstream.failed(error)
      if (error instanceof UpstreamError && !(error instanceof UpstreamLacksData)) lastFailure = error
      if (error instanceof WrongChain) lastWrongChain = error
      if (error instanceof WrongChain && isNewlyWrong(upstream.health, clock.nowMs())) {
        const retryInMs = Math.round(upstream.health.refuse())
        const fields = { upstream: upstream.name, error: error.message, retryInMs }
        log.error(fields, 'the upstream is of another chain; it is not used')
      }
      throw error
    }
  }
  const run: Pool['run'] = async (task, signal) => {
    const unavailable = new Set<Upstream>()
    let lastError: UpstreamError | undefined
    let unavailableError: UpstreamLacksData | undefined
    for (;;) {
      signal?.throwIfAborted()
      closing.signal.throwIfAborted()
      const upstream = pick(unavailable)
      if (!upstream) {
        if (unavailableError) throw unavailableError
        const areRefused = !isChainKnown && upstreams.every(({ health }) => health.state === 'refused')
        if (areRefused) throw lastError ?? lastWrongChain
        const ms = waitMs(unavailable)
        waitLog.waiting(upstreams, ms)
        await sleep(ms, signal)
        continue
      }
      try {
        const result = await runAt(upstream, task, signal)
        current = upstream
        waitLog.over(upstream)
        return result
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        lastError = error
        if (!(error instanceof UpstreamLacksData)) continue
        unavailable.add(upstream)
        unavailableError = error
      }
    }
  }
  const find: Pool['find'] = async (what, task, signal) => {
    try {
      return await run(async (upstream) => {
        const found = await task(upstream)
        if (found === undefined) throw new UpstreamLacksData(upstream.name, what)
        return found
      }, signal)
    } catch (error) {
      if (error instanceof UpstreamLacksData) return undefined
      throw error
    }
  }
  return {
    upstreams,
    run,
    find,
    runAt,
    quarantine,
    preferred: () => pick(),
    isAvailable: ({ health }) => clock.nowMs() >= health.availableAtMs,
    prefer: (upstream) => {
      current = upstream
    },
    status: () => upstreams.map((upstream) => statusOf(upstream, clock.nowMs())),
    stall: () => {
      const nowMs = clock.nowMs()
      const waitedMs = waitLog.waitingMs()
      const wrongMs = wrong === undefined ? 0 : nowMs - wrong.sinceMs
      const isStopped = wrong !== undefined && (wrongMs > STALL_MS || pick() === undefined)
      const ms = Math.max(waitedMs > STALL_MS ? waitedMs : 0, isStopped ? wrongMs : 0)
      const error = wrong?.error ?? lastFailure
      return error && (isStopped || ms > 0) ? { error, ms } : undefined
    },
    progressed: () => {
      wrong = undefined
    },
    close: () => {
      closing.abort(new UpstreamsClosed())
      for (const upstream of upstreams) upstream.close()
    },
    checkAll: async (signal) => {
      // All checks end before one is reported: a check still running would set the state of its upstream later.
      const checks = await Promise.allSettled(upstreams.map((upstream) => runAt(upstream, async () => {}, signal)))
      for (const { reason } of checks.filter((check) => check.status === 'rejected')) {
        // An unreachable upstream is compared before its first use.
        if (!(reason instanceof UpstreamError) || reason instanceof WrongChain) throw reason
      }
    },
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
function createWaitLog(log: Logger, clock: Clock) {
  let sinceMs: number | undefined
  let saidMs: number | undefined
  return {
    waiting(upstreams: readonly Upstream[], ms: number): void {
      const nowMs = clock.nowMs()
      sinceMs ??= nowMs
      if (nowMs + ms < (saidMs === undefined ? sinceMs + SILENT_MS : saidMs + REMIND_MS)) return
      saidMs = nowMs
      const states = upstreams.map(({ name, health }) => `${name}: ${health.state}`)
      log.warn({ upstreams: states, retryInMs: Math.round(ms) }, 'no upstream can be asked; waiting')
    },
    waitingMs: (): number => (sinceMs === undefined ? 0 : clock.nowMs() - sinceMs),
    over(upstream: Upstream): void {
      if (saidMs !== undefined) log.info({ upstream: upstream.name }, 'an upstream can be asked again')
      saidMs = undefined
      sinceMs = undefined
    },
  }
}
