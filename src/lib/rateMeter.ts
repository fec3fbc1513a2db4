/** Rates of growing counters over the last half minute. */
interface RateMeter {
  /** Adds the current counts, always in the same order. The first call is the start. */
  add(counts: readonly number[]): void
  /** Rate per second of each count; 0 before any time has passed. */
  perSecond(): number[]
  /** Seconds that the rates cover. */
  seconds(): number
}

const WINDOW_MS = 30_000
const SAMPLE_MS = 1000

/** Creates a meter of `width` counts. @param nowMs the clock, in milliseconds */
export function createRateMeter(width: number, nowMs: () => number): RateMeter {
  const samples: { ms: number; counts: readonly number[] }[] = []
  let last = { ms: 0, counts: new Array<number>(width).fill(0) as readonly number[] }
  const seconds = () => (samples.length === 0 ? 0 : (last.ms - samples[0].ms) / 1000)
  return {
    add: (counts) => {
      last = { ms: nowMs(), counts }
      if (samples.length > 0 && last.ms - samples[samples.length - 1].ms < SAMPLE_MS) return
      samples.push(last)
      while (samples.length > 2 && last.ms - samples[1].ms >= WINDOW_MS) samples.shift()
    },
    perSecond: () => {
      const over = seconds()
      return last.counts.map((count, i) => (over > 0 ? (count - samples[0].counts[i]) / over : 0))
    },
    seconds,
  }
}

const LEAST_SECONDS = 2 // the first rates are unreliable

/** Seconds until `left` more are done at `rate` per second; undefined while unknown. */
export function estimateLeft(left: number, rate: number, meter: RateMeter): number | undefined {
  return rate > 0 && meter.seconds() >= LEAST_SECONDS ? Math.max(0, left) / rate : undefined
}
