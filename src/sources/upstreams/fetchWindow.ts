import type { Logger } from '../../lib/logger.js'
import type { BlockFetcher, FetchedBlock } from './blockFetcher.js'
import type { Clock } from './clock.js'
import { UpstreamLacksData } from './errors.js'
import { type LinkedAbort, linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { UpstreamLimits } from './types.js'

interface WindowOptions<B> {
  pool: Pool
  fetcher: BlockFetcher<B>
  from: number
  /** Returns the last block that may be fetched, which may grow. */
  last: () => number
  limits: Pick<UpstreamLimits, 'prefetchBytes' | 'prefetchBlocks'>
  log: Logger
  clock: Clock
  signal: AbortSignal
}

/** State of the blocks since the last reset. */
interface Epoch<B> {
  readonly ready: Map<number, FetchedBlock<B> & { bytes: number }>
  readonly abort: LinkedAbort
  nextJob: number
  jobs: number
  readyBytes: number
  reservedBytes: number
}

const FIRST_ESTIMATE_BYTES = 32 * 1024
// The estimated size is the largest of the last blocks; it shrinks by this factor with each smaller block.
const ESTIMATE_DECAY = 0.98
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5000

/** Prefetches blocks ahead of the one that is taken next. */
export class FetchWindow<B> {
  private readonly options: WindowOptions<B>
  private readonly pool: Pool
  private readonly fetcher: BlockFetcher<B>
  private readonly limits: Pick<UpstreamLimits, 'prefetchBytes' | 'prefetchBlocks'>
  private readonly signal: AbortSignal
  private epoch: Epoch<B>
  private nextTaken: number
  private estimateBytes = FIRST_ESTIMATE_BYTES
  private wake: (() => void) | undefined
  private failure: { error: unknown } | undefined

  /** Creates a window that starts fetching with the first `take`. Jobs of consecutive blocks run concurrently, as far
   *  as the upstream's limits and the window's bounds allow; the block that is taken next is always fetched. */
  constructor(options: WindowOptions<B>) {
    this.options = options
    this.pool = options.pool
    this.fetcher = options.fetcher
    this.limits = options.limits
    this.signal = options.signal
    this.epoch = createEpoch<B>(options.from, this.signal)
    this.nextTaken = options.from
  }

  /** Returns the block of that number, which must follow the last one taken. @throws the reason of the signal. */
  async take(blockNumber: number): Promise<FetchedBlock<B>> {
    for (;;) {
      this.pump()
      if (this.failure) throw this.failure.error
      this.signal.throwIfAborted()
      const block = this.epoch.ready.get(blockNumber)
      if (block) {
        this.epoch.ready.delete(blockNumber)
        this.epoch.readyBytes -= block.bytes
        this.nextTaken = blockNumber + 1
        this.pump()
        return block
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  /** Discards all fetched blocks: the next block to be taken is `blockNumber`. */
  reset(blockNumber: number): void {
    this.epoch.abort.abort(new Error('the window was reset'))
    this.epoch.abort.release()
    this.epoch = createEpoch(blockNumber, this.signal)
    this.nextTaken = blockNumber
    this.failure = undefined
  }

  private countOf(batchSize: number): number {
    const { nextJob, reservedBytes, readyBytes, jobs, ready } = this.epoch
    const free = this.limits.prefetchBytes - reservedBytes - readyBytes
    const room = Math.min(
      this.options.last() - nextJob + 1,
      this.nextTaken + this.limits.prefetchBlocks - nextJob,
      Math.floor(free / this.estimateBytes),
    )
    const isNeeded = jobs === 0 && ready.size === 0 && nextJob <= this.options.last()
    return Math.min(batchSize, Math.max(room, isNeeded ? 1 : 0))
  }

  private pump(): void {
    for (;;) {
      const upstream = this.pool.preferred() ?? this.pool.upstreams[0]
      if (this.failure || this.signal.aborted || this.epoch.jobs >= upstream.limits.concurrency) return
      const count = this.countOf(upstream.limits.batchSize)
      if (count < 1) return
      const numbers = Array.from({ length: count }, (_, i) => this.epoch.nextJob + i)
      this.epoch.nextJob += count
      void this.runJob(this.epoch, numbers)
    }
  }

  private async runJob(own: Epoch<B>, numbers: number[]): Promise<void> {
    const reserved = numbers.length * this.estimateBytes
    own.jobs++
    own.reservedBytes += reserved
    try {
      const fetched = await fetchAll(this.options, numbers, own.abort.signal)
      for (const [i, block] of fetched.entries()) {
        const bytes = this.fetcher.sizeOf(block.block)
        own.ready.set(numbers[i], { ...block, bytes })
        own.readyBytes += bytes
        this.estimateBytes = Math.max(bytes, this.estimateBytes * ESTIMATE_DECAY)
      }
    } catch (error) {
      if (own === this.epoch) this.failure = { error }
    } finally {
      own.jobs--
      own.reservedBytes -= reserved
      if (own === this.epoch) {
        this.wake?.()
        this.pump()
      }
    }
  }
}

function createEpoch<B>(from: number, signal: AbortSignal): Epoch<B> {
  return { ready: new Map(), abort: linkAbort(signal), nextJob: from, jobs: 0, readyBytes: 0, reservedBytes: 0 }
}

/** Fetches the blocks of these numbers, retrying until some upstream has each. */
async function fetchAll<B>(
  { pool, fetcher, log, clock }: WindowOptions<B>,
  numbers: readonly number[],
  signal: AbortSignal,
): Promise<FetchedBlock<B>[]> {
  const fetched: FetchedBlock<B>[] = []
  let isMissing = false
  for (let retryMs = FIRST_RETRY_MS; fetched.length < numbers.length; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
    // One block shows whether the upstream is that far: its head may be invalid.
    const wanted = numbers.slice(fetched.length, isMissing ? fetched.length + 1 : undefined)
    try {
      fetched.push(
        ...(await pool.run(async (upstream) => {
          const blocks = await fetcher.fetch(upstream, wanted, signal)
          const missing = blocks.indexOf(undefined)
          if (missing === 0) throw new UpstreamLacksData(upstream.name, `block ${wanted[0]}`)
          const held = missing < 0 ? blocks : blocks.slice(0, missing)
          return held.map((block) => ({ block: block!, upstream }))
        }, signal)),
      )
      isMissing = false
    } catch (error) {
      if (!(error instanceof UpstreamLacksData)) throw error
      isMissing = true
      if (retryMs < MAX_RETRY_MS && 2 * retryMs >= MAX_RETRY_MS)
        log.info({ problem: error.message }, 'waiting for an upstream that has the block')
      await clock.sleep(retryMs, signal)
    }
  }
  return fetched
}
