/** Data of a rate limit error. */
export interface RateRefusal {
  current_rps: number
  allowed_rps: number
  backoff_seconds: number
}

/** A token bucket per key. */
export interface RateLimiter {
  /** Charges `calls` to the key. Undefined when they may run. */
  charge(keyId: number, calls: number, allowedRps: number): RateRefusal | undefined
  /** Charges work that is under way to a key that was charged before: its next calls wait for it, at most ten
   *  seconds. */
  debit(keyId: number, calls: number): void
}

// A call that fetches much state would otherwise refuse those after it for minutes.
const MAX_DEBT_SECONDS = 10

interface Bucket {
  tokens: number
  allowedRps: number
  filledMs: number
  /** Calls requested in the second that began at `secondMs`. */
  requested: number
  secondMs: number
}

/** Token buckets with a capacity of one second, filled at the rate allowed for the key. A batch larger than the bucket
 *  needs a full bucket and leaves it in debt: it runs but is paid for. `nowMs` is a monotonic clock. */
export function createRateLimiter(nowMs: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<number, Bucket>()
  return {
    charge(keyId, calls, allowedRps) {
      const now = nowMs()
      const capacity = capacityOf(allowedRps)
      let bucket = buckets.get(keyId)
      if (bucket === undefined) {
        bucket = { tokens: capacity, allowedRps, filledMs: now, requested: 0, secondMs: now }
        buckets.set(keyId, bucket)
      }
      bucket.allowedRps = allowedRps
      fill(bucket, now)
      if (now - bucket.secondMs >= 1000) {
        bucket.requested = 0
        bucket.secondMs = now
      }
      bucket.requested += calls
      const needed = Math.min(calls, capacity)
      // Clock rounding must not refuse a call that waited long enough.
      if (bucket.tokens + 1e-9 >= needed) {
        bucket.tokens -= calls
        return undefined
      }
      const seconds = (needed - bucket.tokens) / allowedRps
      return {
        current_rps: bucket.requested,
        allowed_rps: allowedRps,
        backoff_seconds: Math.ceil(seconds * 1000) / 1000,
      }
    },
    debit(keyId, calls) {
      const bucket = buckets.get(keyId)
      if (bucket === undefined) return
      fill(bucket, nowMs()) // else the time that the work takes would pay for it
      const least = Math.min(bucket.tokens, -MAX_DEBT_SECONDS * bucket.allowedRps)
      bucket.tokens = Math.max(least, bucket.tokens - calls)
    },
  }
}

function fill(bucket: Bucket, now: number): void {
  const filled = bucket.tokens + ((now - bucket.filledMs) / 1000) * bucket.allowedRps
  bucket.tokens = Math.min(capacityOf(bucket.allowedRps), filled)
  bucket.filledMs = now
}

function capacityOf(allowedRps: number): number {
  return Math.max(1, allowedRps)
}
