/** The fields of a head that the block time is learnt from. */
export interface HeadTime {
  readonly number: number
  /** Unix seconds; undefined where the upstream does not report it. */
  readonly timestamp?: bigint
}

/** Learns the time between blocks from their heads. */
interface BlockTime {
  /** Adds a head that has just arrived. */
  add(head: HeadTime, arrivedMs: number): void
  /** How long to wait before the head is asked for again: a quarter of the block time, 100 ms to 12 s. */
  readonly pollMs: number
  /** Expected time between blocks; undefined before two heads came. */
  readonly expectedMs: number | undefined
}

const SAMPLES = 16
const MIN_POLL_MS = 100
const MAX_POLL_MS = 12_000
const UNKNOWN_POLL_MS = 1000
const POLLS_A_BLOCK = 4

/** The block time is the smaller one of two medians over the last 16 heads: of the gaps between their timestamps, which
 *  are whole seconds, and between their arrivals, which a slow start of the chain or of Cairn may stretch. */
export function createBlockTime(): BlockTime {
  const timestampGaps: number[] = []
  const arrivalGaps: number[] = []
  let before: { head: HeadTime; arrivedMs: number } | undefined
  const expected = () => {
    // Several blocks in one second have gaps of 0, which are no measure.
    const medians = [median(timestampGaps), median(arrivalGaps)].filter((ms) => ms !== undefined && ms > 0)
    return medians.length === 0 ? undefined : Math.min(...(medians as number[]))
  }
  return {
    add: (head, arrivedMs) => {
      const blocks = before ? head.number - before.head.number : 0
      if (before && blocks > 0) {
        const { timestamp } = before.head
        if (head.timestamp !== undefined && timestamp !== undefined) {
          push(timestampGaps, (Number(head.timestamp - timestamp) * 1000) / blocks)
        }
        push(arrivalGaps, (arrivedMs - before.arrivedMs) / blocks)
      }
      before = { head, arrivedMs }
    },
    get expectedMs() {
      return expected()
    },
    get pollMs() {
      const ms = expected()
      return ms === undefined ? UNKNOWN_POLL_MS : Math.min(Math.max(ms / POLLS_A_BLOCK, MIN_POLL_MS), MAX_POLL_MS)
    },
  }
}

function push(gaps: number[], gap: number): void {
  gaps.push(gap)
  if (gaps.length > SAMPLES) gaps.shift()
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}
