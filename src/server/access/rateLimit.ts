/** What a refused request is told. */
export interface RateRefusal {
  current_rps: number
  allowed_rps: number
  backoff_seconds: number
}

/** A token bucket for each key. */
export interface RateLimiter {
  /** Charges `calls` to the key; undefined when they may run. */
  charge(keyId: number, calls: number): RateRefusal | undefined
}

interface Bucket {
  tokens: number
  filledMs: number
  /** Calls asked for in the second that began at `secondMs`. */
  asked: number
  secondMs: number
}

/** Buckets that hold one second's calls and fill at `allowedRps`. A batch larger than a bucket needs a full one and
 *  leaves it in debt, so that it is let through but paid for. `nowMs` is a monotonic clock. */
export function createRateLimiter(allowedRps: number, nowMs: () => number = () => performance.now()): RateLimiter {
  const capacity = Math.max(1, allowedRps)
  const buckets = new Map<number, Bucket>()
  return {
    charge(keyId, calls) {
      const now = nowMs()
      let bucket = buckets.get(keyId)
      if (bucket === undefined) {
        bucket = { tokens: capacity, filledMs: now, asked: 0, secondMs: now }
        buckets.set(keyId, bucket)
      }
      bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filledMs) / 1000) * allowedRps)
      bucket.filledMs = now
      if (now - bucket.secondMs >= 1000) {
        bucket.asked = 0
        bucket.secondMs = now
      }
      bucket.asked += calls
      const needed = Math.min(calls, capacity)
      // A rounding of the clock must not refuse the call that waited just long enough.
      if (bucket.tokens + 1e-9 >= needed) {
        bucket.tokens -= calls
        return undefined
      }
      const seconds = (needed - bucket.tokens) / allowedRps
      return { current_rps: bucket.asked, allowed_rps: allowedRps, backoff_seconds: Math.ceil(seconds * 1000) / 1000 }
    },
  }
}
