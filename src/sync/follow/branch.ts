import type { Header } from '../../chain/eth/types.js'
import { CairnError } from '../../lib/errors.js'
import type { RawBlock } from '../../sources/source.js'
import type { Clock } from '../../sources/upstreams/clock.js'
import { linkAbort } from '../../sources/upstreams/linkedAbort.js'
import type { WritableChain } from '../chainState.js'
import { replaceBranch } from '../head/reorg.js'

/** A reorg's transaction was rolled back because no block arrived in time. */
export class BranchStalled extends CairnError {
  constructor(stallMs: number) {
    super(`no block of the new branch came for ${stallMs} ms`)
  }
}

/** An upstream's branch. As much as fits into memory is fetched before it replaces anything. */
export interface Branch {
  /** The newest block that both branches have. */
  readonly fork: number
  /** The first blocks after `fork`, up to the bound; never empty. */
  readonly first: readonly RawBlock[]
  /** False when `blocks` fetches more blocks. */
  readonly isWhole: boolean
  /** Yields all blocks, once. @throws BranchStalled, and what the source throws */
  blocks(): AsyncGenerator<RawBlock>
  /** Stops fetching. Always call it. */
  close(): void
}

interface FetchBranchOptions {
  ancestor: number
  signal: AbortSignal
  /** True for a block of the stored chain. */
  isStored(raw: RawBlock): boolean
  /** Encoded size of the blocks in memory; at least one. */
  maxBytes: number
  clock: Clock
}

// The database is locked for other writers, such as `cairn keys`, while a long branch is fetched.
const STALL_MS = 30_000

/** Fetches the first blocks of a branch. `open` yields the blocks after `ancestor`. Undefined when every block is
 *  stored: another upstream returned them. */
export async function fetchBranch(
  open: (signal: AbortSignal) => AsyncIterable<RawBlock>,
  { ancestor, isStored, maxBytes, clock, signal }: FetchBranchOptions,
): Promise<Branch | undefined> {
  const linked = linkAbort(signal)
  const iterator = open(linked.signal)[Symbol.asyncIterator]()
  const close = () => {
    linked.abort(new Error('the branch is not fetched any more'))
    linked.release()
  }
  const first: RawBlock[] = []
  let fork = ancestor
  let bytes = 0
  let isWhole = false
  try {
    while (!isWhole && bytes < maxBytes) {
      const { done, value } = await iterator.next()
      if (done) isWhole = true
      else if (first.length === 0 && isStored(value)) fork = value.block.header.number
      else {
        first.push(value)
        bytes += value.block.sizeBytes
      }
    }
  } catch (error) {
    close()
    throw error
  }
  if (first.length === 0) {
    close()
    return undefined
  }
  return {
    fork,
    first,
    isWhole,
    close,
    blocks: async function* () {
      while (first.length > 0) yield first.shift()! // stored blocks need not stay in memory
      while (!isWhole) {
        const next = await withDeadline(iterator.next(), clock)
        if (next.done) return
        yield next.value
      }
    },
  }
}

async function withDeadline<T>(promise: Promise<T>, clock: Clock): Promise<T> {
  const timer = new AbortController()
  const stalled = clock.sleep(STALL_MS, timer.signal).then(() => {
    throw new BranchStalled(STALL_MS)
  })
  try {
    return await Promise.race([promise, stalled])
  } finally {
    stalled.catch(() => {}) // aborted now, or thrown by the race
    timer.abort(new Error('a block came'))
    promise.catch(() => {})
  }
}

/** Replaces the blocks above the branch's fork, in one transaction. Under proof of work, refuses a branch of less total
 *  difficulty, and with `mustBeHeavier` one of equal difficulty. @returns false when it was refused; the chain is
 *  unchanged
 *  @throws as `replaceBranch` and `Branch.blocks` */
export async function adoptBranch(
  chain: WritableChain,
  branch: Branch,
  { mustBeHeavier }: { mustBeHeavier: boolean },
): Promise<boolean> {
  const { head, reader } = chain
  const { fork, first, isWhole } = branch
  const ownTotal = head.newest!.totalDifficulty
  // Under proof of stake the upstream decides which chain is canonical.
  const isRight = (header: Header, total: bigint) =>
    header.difficulty === 0n || total > ownTotal || (total === ownTotal && !mustBeHeavier)
  const shared = reader.blockByNumber(fork)!.totalDifficulty
  const total = first.reduce((sum, { block }) => sum + block.header.difficulty, shared)
  if (isWhole && !isRight(first.at(-1)!.block.header, total)) return false
  return replaceBranch(chain, fork, branch.blocks(), {
    length: isWhole ? first.length : undefined,
    accepts: ({ header, totalDifficulty }) => isRight(header, totalDifficulty),
  })
}
