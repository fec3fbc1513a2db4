/** Limits the bytes a second of each owner over all its streams. */
export interface StreamRate {
  /** Counts bytes that are sent. Returns how long the owner must then wait, in milliseconds. */
  count(owner: number | string, sizeBytes: number): number
}

interface Bucket {
  /** Bytes that may be sent at once; negative: too many were. */
  left: number
  filledMs: number
}

/** Full buckets are dropped beyond this number of owners. */
const MAX_BUCKETS = 10_000

/** Creates buckets that hold a second's bytes. `nowMs` is a monotonic clock. */
export function createStreamRate(bytesPerSecond: number, nowMs: () => number = () => performance.now()): StreamRate {
  const buckets = new Map<number | string, Bucket>()
  const fill = (bucket: Bucket, now: number) => {
    bucket.left = Math.min(bytesPerSecond, bucket.left + ((now - bucket.filledMs) / 1000) * bytesPerSecond)
    bucket.filledMs = now
  }
  const dropFull = (now: number) => {
    for (const [owner, bucket] of buckets) {
      fill(bucket, now)
      if (bucket.left >= bytesPerSecond) buckets.delete(owner)
    }
  }
  return {
    count(owner, sizeBytes) {
      if (bytesPerSecond === 0) return 0
      const now = nowMs()
      if (buckets.size >= MAX_BUCKETS && !buckets.has(owner)) dropFull(now)
      const bucket = buckets.get(owner) ?? { left: bytesPerSecond, filledMs: now }
      buckets.set(owner, bucket)
      fill(bucket, now)
      bucket.left -= sizeBytes
      return Math.max(0, (-bucket.left / bytesPerSecond) * 1000)
    },
  }
}
