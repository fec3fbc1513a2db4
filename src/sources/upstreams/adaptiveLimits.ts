/** Limits of requests to one upstream: raised by one step after a round of successes, halved on overload. */
export interface AdaptiveLimits {
  /** Requests that may be in flight. One that takes longer than two seconds no longer counts: it may hang. */
  readonly concurrency: number
  /** Calls in one request. */
  readonly batchSize: number
  readonly inFlight: number
  /** True while a request is in flight that was sent less than a second ago: an older one may hang. */
  readonly isAwaited: boolean
  /** Waits for a free slot, in the order of the calls. Call the function that it resolves to when the request has
   *  ended.
   *  @throws the reason of `signal` when it aborts. */
  acquire(signal?: AbortSignal): Promise<() => void>
  /** A request of that many calls was answered. */
  succeeded(calls: number): void
  /** A request was throttled, timed out, or was too large. Requests that were sent before the last halving do not halve
   *  again.
   *  @param startedMs when the request was sent */
  overloaded(startedMs: number): void
  /** The upstream accepts no batches. */
  forbidBatches(): void
}

const FIRST_CONCURRENCY = 4
const FIRST_BATCH = 8
const AWAITED_MS = 1000
const SLOT_MS = 2000

/** Creates limits between 1 and the maxima, starting low. Never more than `maxConcurrency` requests are in flight.
 *  @param nowMs the clock of the times passed to `overloaded` */
export function createAdaptiveLimits(maxConcurrency: number, maxBatch: number, nowMs: () => number): AdaptiveLimits {
  let concurrency = Math.min(FIRST_CONCURRENCY, maxConcurrency)
  let batchSize = Math.min(FIRST_BATCH, maxBatch)
  let batchLimit = maxBatch
  /** Requests in flight: when each was sent. */
  const sent = new Set<{ readonly ms: number }>()
  let successes = 0
  let halvedMs = Number.NEGATIVE_INFINITY
  const waiting: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  const sentWithin = (ms: number) => [...sent].filter((request) => nowMs() - request.ms < ms)
  const admit = () => {
    clearTimeout(timer)
    while (waiting.length > 0 && sent.size < maxConcurrency) {
      const [oldest, ...others] = sentWithin(SLOT_MS)
      if (oldest === undefined || others.length + 1 < concurrency) waiting.shift()!()
      else {
        timer = setTimeout(admit, oldest.ms + SLOT_MS - nowMs()).unref()
        return
      }
    }
  }
  return {
    get concurrency() {
      return concurrency
    },
    get batchSize() {
      return batchSize
    },
    get inFlight() {
      return sent.size
    },
    get isAwaited() {
      return sentWithin(AWAITED_MS).length > 0
    },
    acquire: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const start = () => {
          signal?.removeEventListener('abort', onAbort)
          const request = { ms: nowMs() }
          sent.add(request)
          resolve(() => {
            if (sent.delete(request)) admit()
          })
        }
        const onAbort = () => {
          waiting.splice(waiting.indexOf(start), 1)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        waiting.push(start)
        admit()
      }),
    succeeded: (calls) => {
      // Additive increase: one step after as many successes as run at a time. A batch that was not full does not count.
      if (++successes < concurrency) return
      successes = 0
      concurrency = Math.min(concurrency + 1, maxConcurrency)
      if (calls >= batchSize) batchSize = Math.min(batchSize + 1, batchLimit)
      admit()
    },
    overloaded: (startedMs) => {
      if (startedMs < halvedMs) return
      halvedMs = nowMs()
      successes = 0
      concurrency = Math.max(1, Math.floor(concurrency / 2))
      batchSize = Math.max(1, Math.floor(batchSize / 2))
    },
    forbidBatches: () => {
      batchLimit = 1
      batchSize = 1
    },
  }
}
