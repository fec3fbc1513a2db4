import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { equalBytes } from '../../lib/bytes.js'
import { withoutHiding } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import type { EthRpc, UpstreamHeader } from '../../sources/ethRpc/types.js'
import type { RawBlock } from '../../sources/source.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import { ChainReorganized } from '../../sources/upstreams/errors.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import { createBlockAppender } from '../blockAppender.js'
import type { WritableChain } from '../chainState.js'
import { ReorgBelowFinalized } from '../head/errors.js'
import { importBlocks } from '../pipeline.js'
import { adoptBranch, BranchStalled, fetchBranch } from './branch.js'
import { createFinalityFeed } from './finality.js'
import { withTotalDifficulty } from './firstDifficulty.js'
import { findForkPoint } from './forkPoint.js'
import { createFollowFigures, type FollowFigures, SYNCING_BLOCKS } from './status.js'

export interface FollowOptions {
  /** Stops following after the current transaction. */
  signal: AbortSignal
  log: Logger
  /** First block to store in an empty database. Default: 0. Only without execution. */
  from?: number
  checkpoints?: Checkpoints
  /** Blocks between two checks of the state root while far behind; 0 or undefined: chosen by the size of the state. */
  rootInterval?: number
  /** Maximum encoded size of a branch in memory before it replaces another. Default: 32 MiB. */
  branchBytes?: number
  /** Figures to continue; default: new ones. */
  figures?: FollowFigures
  /** Time and timers, for tests. */
  clock?: Clock
}

/** Keeps a chain equal to that of its upstreams. */
export interface Follower {
  /** Resolves when `signal` aborts.
   *  @throws ReorgBelowFinalized, NoCommonBlock when the upstreams' chain cannot be followed; what reading and writing
   *  the database throws; UpstreamError when every upstream is of another chain */
  run(): Promise<void>
  readonly figures: FollowFigures
}

// A branch replaces another in one transaction. Blocks beyond this number, and beyond the head that it replaces, are
// appended afterwards.
const MAX_BRANCH_BLOCKS = 1024
// Encoded size of the part of a branch that is fetched before the transaction begins; the rest arrives while it is
// open.
const BRANCH_BYTES = 32 * 2 ** 20
// Longest delay of the next block by index work.
const INDEX_SLICE_MS = 3
// Between two attempts to reach a head that an upstream announced but does not return.
const RETRY_MS = 100

/** Creates a follower of the upstreams behind `rpc`. The caller closes `rpc`. */
export function createFollower(chain: WritableChain, rpc: EthRpc, options: FollowOptions): Follower {
  const { head, reader } = chain
  const { signal, log, from = 0, checkpoints, rootInterval = 0, branchBytes = BRANCH_BYTES } = options
  const { clock = systemClock, figures = createFollowFigures() } = options
  figures.begins(head.newest?.header.number)
  const raws = createRawHistory(Math.max(rootInterval, 64))
  let next: UpstreamHeader | undefined
  /** The upstream that last reported the stored head. */
  let followed: string | undefined
  let failure: { error: unknown } | undefined
  let wake = () => {}

  const fail = (error: unknown) => {
    failure ??= { error }
    wake()
  }
  const finality = createFinalityFeed(chain, rpc, { signal, onNews: () => wake(), onError: fail })
  const offer = (header: UpstreamHeader) => {
    figures.sees(header.header.number)
    next = header
    wake()
  }

  /** Stores one block on top of the newest one, in a transaction of its own. @returns false when no upstream has it any
   *  more */
  const appendTip = async (target: UpstreamHeader): Promise<boolean> => {
    const raw = await rpc.getBlock(target.hash, signal)
    if (!raw) return false
    raws.add(raw)
    const appender = createBlockAppender(chain)
    try {
      await appender.take(raw, 1)
      await appender.settle()
      head.commit()
    } catch (error) {
      withoutHiding(error, head.rollback)
    }
    return true
  }
  const catchUp = async (fromBlock: number, to: number): Promise<void> => {
    const range = { from: fromBlock, to, parentHash: head.newest?.hash, signal }
    const isFirst = head.newest === undefined
    if (to - fromBlock >= SYNCING_BLOCKS) head.expect(to)
    const blocks = async function* () {
      for await (const raw of rpc.blocks(range)) {
        const whole = isFirst && raw.block.header.number === fromBlock ? await withTotalDifficulty(chain, raw) : raw
        raws.add(whole)
        yield whole
      }
    }
    const source = { kind: 'upstream', path: 'upstream', blocks }
    const progress = { update() {} }
    await importBlocks(chain, source, { progress, signal, checkpoints, rootInterval, finishIndexes: false })
  }
  /** Yields the blocks from `ancestor + 1` to `to`, and on towards the target while proof of work makes them the
   *  lighter branch. */
  const branchBlocks = async function* (ancestor: number, to: number, target: UpstreamHeader, ended: AbortSignal) {
    const range = {
      from: ancestor + 1,
      to: target.header.number,
      parentHash: reader.blockHash(ancestor),
      signal: ended,
    }
    let total = reader.blockByNumber(ancestor)!.totalDifficulty
    const ownTotal = head.newest!.totalDifficulty
    for await (const raw of rpc.blocks(range)) {
      raws.add(raw)
      yield raw
      const { number, difficulty } = raw.block.header
      total += difficulty
      if (number >= to && (difficulty === 0n || total > ownTotal)) return
    }
  }
  /** Replaces the blocks above `ancestor` by the upstream's branch. @returns false to look at the upstream's chain
   *  again */
  const replace = async (ancestor: number, target: UpstreamHeader): Promise<boolean> => {
    const own = head.newest!
    const to = Math.max(own.header.number, ancestor + MAX_BRANCH_BLOCKS)
    const branch = await fetchBranch((ended) => branchBlocks(ancestor, to, target, ended), {
      ...{ ancestor, maxBytes: branchBytes, clock, signal },
      isStored: ({ block }) => isStored(block.hash, block.header.number),
    })
    if (!branch) return false
    try {
      const { fork } = branch
      const startedMs = performance.now()
      if (!(await adoptBranch(chain, branch, { mustBeHeavier: rpc.status().length > 1 }))) {
        log.debug({ ancestor: fork }, "the upstream's branch does not have more total difficulty; not followed")
        return true
      }
      const ms = Math.round(performance.now() - startedMs)
      await checkpoints?.afterCommit()
      const { number } = head.newest!.header
      log.info({ ancestor: fork, removed: own.header.number - fork, added: number - fork, head: number, ms }, 'reorg')
      return isStored(target.hash, target.header.number)
    } finally {
      branch.close()
    }
  }
  /** Returns the upstream's head. Some nodes announce a new branch block by block: the first of them is not its end. */
  const newestOf = async (target: UpstreamHeader): Promise<UpstreamHeader> => {
    const newest = await rpc.head(signal)
    const isSameNode = newest.upstream === target.upstream // another one may be on another fork
    return isSameNode && newest.header.number > target.header.number ? newest : target
  }
  const isStored = (hash: Uint8Array, number: number): boolean => {
    const held = reader.blockHash(number)
    return held !== undefined && equalBytes(held, hash)
  }
  /** True when another upstream has a block on top of finalized number `finalized`. It is asked first from now on. */
  const isLinkedElsewhere = async (finalized: number, target: UpstreamHeader): Promise<boolean> => {
    if (rpc.status().length === 1 || target.header.number <= finalized) return false
    const range = { from: finalized + 1, to: finalized + 1, parentHash: reader.blockHash(finalized), signal }
    try {
      for await (const _ of rpc.blocks(range)) return true
    } catch (error) {
      if (!(error instanceof ChainReorganized)) throw error
    }
    return false
  }
  /** Tries once to make the chain that of `target`. @returns false to retry with the upstream's newest head; another
   *  head to try that one */
  const advance = async (target: UpstreamHeader): Promise<boolean | UpstreamHeader> => {
    const own = head.newest
    const { number, parentHash } = target.header
    if (!own) {
      if (number >= from) await catchUp(from, number)
      return true
    }
    if (isStored(target.hash, number)) return true // the newest one, or the upstream is behind
    if (number === own.header.number + 1 && equalBytes(parentHash, own.hash)) return appendTip(target)
    const ancestor = await findForkPoint(chain, rpc, target, signal)
    if (ancestor === undefined) return false
    if (ancestor === own.header.number) {
      await catchUp(ancestor + 1, number)
      return true
    }
    // Two upstreams on two forks: switching at every failed request would only cause reorgs. Under proof of work the
    // total difficulty decides.
    if (target.header.difficulty === 0n) {
      const { hash, header } = own
      const onFork = await rpc.findUpstreamOnFork({ hash, number: header.number, upstream: followed }, target, signal)
      if (onFork) return onFork !== 'unknown' && onFork
    }
    const { finalized } = head.finality()
    if (ancestor >= finalized || chain.spec.isDevelopment) return replace(ancestor, await newestOf(target))
    if (await isLinkedElsewhere(finalized, target)) return false
    throw new ReorgBelowFinalized(ancestor, finalized)
  }
  const reach = async (first: UpstreamHeader): Promise<void> => {
    for (let target = first; ; ) {
      try {
        const outcome = await advance(target)
        if (outcome === true) {
          followed = target.upstream
          head.expect(undefined)
          rpc.progressed()
          figures.reached()
          return
        }
        if (outcome) {
          target = outcome
          continue
        }
      } catch (error) {
        if (error instanceof InvalidBlock) {
          const raw = raws.find(error)
          if (!raw) throw error
          rpc.reportInvalid(raw, error)
        } else if (!(error instanceof ChainReorganized || error instanceof BranchStalled)) throw error
      }
      await clock.sleep(RETRY_MS, signal)
      target = next ?? (await rpc.head(signal))
      next = undefined
      figures.sees(target.header.number)
    }
  }
  const loop = async (): Promise<void> => {
    let [indexesDue, trieHistoryDue] = [true, true]
    while (!signal.aborted) {
      if (failure) throw failure.error
      if (next) {
        const target = next
        next = undefined
        await reach(target)
        finality.ask()
        indexesDue = true
        trieHistoryDue = true
      } else if (finality.store()) {
        // Loop again: a head may have come.
      } else if (indexesDue) {
        indexesDue = head.workOnIndexes(INDEX_SLICE_MS)
        await checkpoints?.afterCommit()
        await yieldToEventLoop()
      } else if (trieHistoryDue) {
        trieHistoryDue = chain.extendTrieHistory()
        await checkpoints?.afterCommit()
        await yieldToEventLoop()
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  return {
    figures,
    run: async () => {
      const own = head.newest?.header.number ?? -1
      // Blocks from files count as final, and so does the genesis; later blocks do not.
      if (!head.isFinalityStored()) head.finalize({ safe: own, finalized: own })
      const unlisten = head.listen({
        changed: (event) => {
          figures.changed(event)
          if (event.kind !== 'finalized') rpc.progressed()
        },
      })
      const watch = new AbortController()
      const stop = () => {
        watch.abort(signal.reason)
        wake()
      }
      signal.addEventListener('abort', stop, { once: true })
      const watching = rpc.watchHeads(offer, watch.signal).catch(fail)
      try {
        await loop()
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        signal.removeEventListener('abort', stop)
        unlisten()
        watch.abort(new Error('following ended'))
        await watching
      }
    },
  }
}

/** Keeps the newest blocks, to find the upstream of one that is refused. */
function createRawHistory(most: number) {
  const raws = new Map<number, RawBlock>()
  return {
    add: (raw: RawBlock) => {
      const { number } = raw.block.header
      raws.set(number, raw)
      raws.delete(number - most)
    },
    find: ({ blockNumber, blockHash }: InvalidBlock): RawBlock | undefined => {
      const raw = raws.get(blockNumber)
      return raw && equalBytes(raw.block.hash, blockHash) ? raw : undefined
    },
  }
}
