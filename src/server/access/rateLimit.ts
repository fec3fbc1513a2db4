import { sharedClockMs } from '../../lib/sharedClock.js'

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
  /** True once the bucket of the key exists in this thread. */
  has(keyId: number): boolean
  /** The memory of a bucket, for the limiter of another thread; undefined for a key that was never charged. */
  share(keyId: number): SharedArrayBuffer | undefined
  /** Charges the key in the bucket of another thread's limiter from now on. */
  adopt(keyId: number, memory: SharedArrayBuffer): void
}

// A call that fetches much state would otherwise refuse those after it for minutes.
const MAX_DEBT_SECONDS = 10

/** Clock rounding must not refuse a call that waited long enough. */
const ROUNDING = 1e-6

/** Words of a bucket. `FULL`: when it is full again, in milliseconds; `RATE`: calls per second; both are bits of a
 *  float. `REQUESTED`: calls requested in the second that began at `SECOND`, in microseconds. */
const [FULL, RATE, REQUESTED, SECOND] = [0, 1, 2, 3]
const BUCKET_BYTES = 4 * BigInt64Array.BYTES_PER_ELEMENT

/** Token buckets with a capacity of one second, filled at the rate allowed for the key. A batch larger than the bucket
 *  needs a full bucket and leaves it in debt: it runs but is paid for. Threads that share a bucket admit together what
 *  one would. `nowMs` is a monotonic clock that they share. */
export function createRateLimiter(nowMs: () => number = sharedClockMs): RateLimiter {
  const buckets = new Map<number, BigInt64Array<SharedArrayBuffer>>()
  return {
    charge(keyId, calls, allowedRps) {
      const now = nowMs()
      let bucket = buckets.get(keyId)
      if (bucket === undefined) {
        bucket = new BigInt64Array(new SharedArrayBuffer(BUCKET_BYTES)) // all zero: full
        buckets.set(keyId, bucket)
      }
      changeRate(bucket, now, allowedRps)
      const requested = countRequested(bucket, now, calls)
      const capacity = capacityOf(allowedRps)
      const needed = Math.min(calls, capacity)
      for (;;) {
        const full = Atomics.load(bucket, FULL)
        const fullMs = floatOf(full)
        const tokens = capacity - (Math.max(0, fullMs - now) / 1000) * allowedRps
        if (tokens + ROUNDING < needed) {
          const seconds = (needed - tokens) / allowedRps
          return {
            current_rps: requested,
            allowed_rps: allowedRps,
            backoff_seconds: Math.ceil(Math.round(seconds * 1e6) / 1e3) / 1000,
          }
        }
        if (replace(bucket, full, Math.max(fullMs, now) + (calls / allowedRps) * 1000)) return undefined
      }
    },
    debit(keyId, calls) {
      const bucket = buckets.get(keyId)
      if (bucket === undefined) return
      const rate = floatOf(Atomics.load(bucket, RATE))
      for (;;) {
        const now = nowMs()
        const full = Atomics.load(bucket, FULL)
        const fullMs = Math.max(floatOf(full), now)
        const latestMs = Math.max(fullMs, now + (capacityOf(rate) / rate + MAX_DEBT_SECONDS) * 1000)
        if (replace(bucket, full, Math.min(latestMs, fullMs + (calls / rate) * 1000))) return
      }
    },
    has: (keyId) => buckets.has(keyId),
    share: (keyId) => buckets.get(keyId)?.buffer,
    adopt: (keyId, memory) => void buckets.set(keyId, new BigInt64Array(memory)),
  }
}

/** Keeps the tokens of a bucket whose rate has changed. */
function changeRate(bucket: BigInt64Array, now: number, allowedRps: number): void {
  const before = Atomics.load(bucket, RATE)
  const bits = bitsOf(allowedRps)
  if (before === bits || Atomics.compareExchange(bucket, RATE, before, bits) !== before) return
  const rate = floatOf(before)
  if (rate === 0) return // a new bucket
  for (;;) {
    const full = Atomics.load(bucket, FULL)
    const capacity = capacityOf(allowedRps)
    const tokens = capacityOf(rate) - (Math.max(0, floatOf(full) - now) / 1000) * rate
    if (replace(bucket, full, now + ((capacity - Math.min(capacity, tokens)) / allowedRps) * 1000)) return
  }
}

/** Calls requested in the current second, these included. */
function countRequested(bucket: BigInt64Array, now: number, calls: number): number {
  const second = Atomics.load(bucket, SECOND)
  const nowUs = BigInt(Math.round(now * 1000))
  if (nowUs - second >= 1_000_000n && Atomics.compareExchange(bucket, SECOND, second, nowUs) === second) {
    Atomics.store(bucket, REQUESTED, 0n)
  }
  return Number(Atomics.add(bucket, REQUESTED, BigInt(calls))) + calls
}

/** Sets when the bucket is full, unless another thread has changed it from `full`. */
function replace(bucket: BigInt64Array, full: bigint, fullMs: number): boolean {
  return Atomics.compareExchange(bucket, FULL, full, bitsOf(fullMs)) === full
}

const float = new Float64Array(1)
const bits = new BigInt64Array(float.buffer)

function floatOf(word: bigint): number {
  bits[0] = word
  return float[0]
}

function bitsOf(value: number): bigint {
  float[0] = value
  return bits[0]
}

function capacityOf(allowedRps: number): number {
  return Math.max(1, allowedRps)
}
