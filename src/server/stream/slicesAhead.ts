import type { StreamPosition } from '../../export/stream/streamQuery.js'
import { equalBytes } from '../../lib/bytes.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'
import type { ReceivedSlice } from '../../rpc/stream/sliceMessage.js'

/** Reads a slice in a reader thread. Never rejects. */
export type ReadSlice = (position: StreamPosition) => Promise<ReceivedSlice | RpcErrorBody>

/** Blocks that are read. */
interface ReadAhead {
  readonly from: number
  readonly to: number
  readonly result: ReturnType<ReadSlice>
}

/** Of the blocks that fitted into a slice, the share that the next ones have: most of them then fit. */
const WIDTH_SHARE = 0.9
const GROWTH = 1.25
// A slice that ends early costs another one for the rest of its blocks.
const FULL_SLICES_BEFORE_GROWTH = 8

/** The slices of a stream, in order, some of them read ahead. Where slices begin is known only once those before them
 *  are read; so the blocks of a slice are as many as fitted into earlier ones, and what did not fit is read before the
 *  slice that follows. */
export class SlicesAhead {
  readonly #read: ReadSlice
  readonly #most: number
  readonly #waiting: ReadAhead[] = []
  /** Last block of the stream. */
  #to: number
  /** Blocks of a slice; undefined until one ended at a limit. */
  #width: number | undefined
  #fullSlices = 0

  /** `first` is the first slice of the stream. Reads at most `most` slices at a time. */
  constructor(read: ReadSlice, first: ReceivedSlice, { from, most }: { from: number; most: number }) {
    this.#read = read
    this.#most = most
    this.#to = first.to
    this.#adapt({ from, to: first.to }, first)
  }

  /** Returns the slice after `last`, which is the first one or was returned last: undefined at the end of the stream.
   *  It is forked, or its rows link to those of `last`. */
  async next(last: ReceivedSlice): Promise<ReceivedSlice | RpcErrorBody | undefined> {
    this.#fill(last)
    let ahead = this.#waiting.shift()
    if (ahead === undefined) return undefined
    let slice = await ahead.result
    if (!('code' in slice) && !slice.isForked && !isLinked(slice, last)) {
      this.#waiting.length = 0
      ahead = this.#begin(last, last.nextBlock, ahead.to)
      slice = await ahead.result
    }
    if ('code' in slice || slice.isForked) return slice
    if (slice.to < ahead.to) this.#to = Math.min(this.#to, slice.to) // blocks were removed
    this.#adapt(ahead, slice)
    const end = Math.min(ahead.to, this.#to)
    if (this.#most > 1 && slice.nextBlock <= end) this.#waiting.unshift(this.#begin(slice, slice.nextBlock, end))
    return slice
  }

  #fill(last: ReceivedSlice): void {
    while (this.#waiting.length < this.#most) {
      const from = (this.#waiting.at(-1)?.to ?? last.nextBlock - 1) + 1
      if (from > this.#to) return
      const isBounded = this.#most > 1 && this.#width !== undefined
      this.#waiting.push(this.#begin(last, from, isBounded ? Math.min(this.#to, from + this.#width! - 1) : this.#to))
    }
  }

  #begin({ recent }: ReceivedSlice, from: number, to: number): ReadAhead {
    return { from, to, result: this.#read({ from, to, recent, isFirst: false }) }
  }

  #adapt({ from, to }: { from: number; to: number }, { nextBlock }: ReceivedSlice): void {
    if (nextBlock <= to) {
      this.#width = Math.max(1, Math.floor((nextBlock - from) * WIDTH_SHARE))
      this.#fullSlices = 0
    } else if (this.#width !== undefined && ++this.#fullSlices >= FULL_SLICES_BEFORE_GROWTH) {
      this.#width = Math.ceil(this.#width * GROWTH)
    }
  }
}

/** True if the slice was read on the branch of the blocks before it. */
function isLinked({ before }: ReceivedSlice, { recent }: ReceivedSlice): boolean {
  const own = recent.at(-1)
  return own === undefined || (before !== undefined && equalBytes(own.hash, before.hash))
}
