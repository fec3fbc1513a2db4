import type { Logger } from '../../lib/logger.js'
import type { BlockFetcher, FetchedBlock } from './blockFetcher.js'
import type { Clock } from './clock.js'
import { UpstreamLacksData } from './errors.js'
import { type LinkedAbort, linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { UpstreamLimits } from './types.js'

/** Prefetches blocks ahead of the one that is taken next. */
interface FetchWindow<B> {
  /** Returns the block of that number, which must follow the last one taken. @throws the reason of the signal. */
  take(blockNumber: number): Promise<FetchedBlock<B>>
  /** Discards all fetched blocks: the next block to be taken is `blockNumber`. */
  reset(blockNumber: number): void
}

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

/** Creates a window that starts fetching with the first `take`. Jobs of consecutive blocks run concurrently, as far as
 *  the upstream's limits and the window's bounds allow; the block that is taken next is always fetched. */
export function createFetchWindow<B>(options: WindowOptions<B>): FetchWindow<B> {
  const { pool, fetcher, limits, signal } = options
  let epoch = createEpoch<B>(options.from, signal)
  let nextTaken = options.from
  let estimateBytes = FIRST_ESTIMATE_BYTES
  let wake: (() => void) | undefined
  let failure: { error: unknown } | undefined

  const countOf = (batchSize: number): number => {
    const { nextJob, reservedBytes, readyBytes, jobs, ready } = epoch
    const free = limits.prefetchBytes - reservedBytes - readyBytes
    const room = Math.min(
      options.last() - nextJob + 1,
      nextTaken + limits.prefetchBlocks - nextJob,
      Math.floor(free / estimateBytes),
    )
    const isNeeded = jobs === 0 && ready.size === 0 && nextJob <= options.last()
    return Math.min(batchSize, Math.max(room, isNeeded ? 1 : 0))
  }
  const pump = () => {
    for (;;) {
      const upstream = pool.preferred() ?? pool.upstreams[0]
      if (failure || signal.aborted || epoch.jobs >= upstream.limits.concurrency) return
      const count = countOf(upstream.limits.batchSize)
      if (count < 1) return
      const numbers = Array.from({ length: count }, (_, i) => epoch.nextJob + i)
      epoch.nextJob += count
      void runJob(epoch, numbers)
    }
  }
  const runJob = async (own: Epoch<B>, numbers: number[]) => {
    const reserved = numbers.length * estimateBytes
    own.jobs++
    own.reservedBytes += reserved
    try {
      const fetched = await fetchAll(options, numbers, own.abort.signal)
      for (const [i, block] of fetched.entries()) {
        const bytes = fetcher.sizeOf(block.block)
        own.ready.set(numbers[i], { ...block, bytes })
        own.readyBytes += bytes
        estimateBytes = Math.max(bytes, estimateBytes * ESTIMATE_DECAY)
      }
    } catch (error) {
      if (own === epoch) failure = { error }
    } finally {
      own.jobs--
      own.reservedBytes -= reserved
      if (own === epoch) {
        wake?.()
        pump()
      }
    }
  }
  return {
    take: async (blockNumber) => {
      for (;;) {
        pump()
        if (failure) throw failure.error
        signal.throwIfAborted()
        const block = epoch.ready.get(blockNumber)
        if (block) {
          epoch.ready.delete(blockNumber)
          epoch.readyBytes -= block.bytes
          nextTaken = blockNumber + 1
          pump()
          return block
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    reset: (blockNumber) => {
      epoch.abort.abort(new Error('the window was reset'))
      epoch.abort.release()
      epoch = createEpoch(blockNumber, signal)
      nextTaken = blockNumber
      failure = undefined
    },
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
