import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { equalBytes } from '../../lib/bytes.js'
import { withoutHiding } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { EthRpc, UpstreamHeader } from '../../sources/ethRpc/types.js'
import type { RawBlock } from '../../sources/source.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import { ChainReorganized, StateNotAtUpstream } from '../../sources/upstreams/errors.js'
import type { UpstreamRange } from '../../sources/upstreams/types.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import type { ChainReader } from '../../store/rows/types.js'
import { TRIE_HISTORY_BLOCKS } from '../../store/state/trieHistory.js'
import { createBlockAppender } from '../blockAppender.js'
import type { WritableChain } from '../chainState.js'
import type { ChainHead } from '../head/chainHead.js'
import { ReorgBelowFinalized } from '../head/errors.js'
import { IdleWork } from '../idleWork.js'
import { importBlocks } from '../pipeline.js'
import { adoptBranch, BranchStalled, fetchBranch } from './branch.js'
import { StateDumpAtOtherBlock } from './errors.js'
import { createFinalityFeed, type FinalityFeed } from './finality.js'
import { completeAncestors, completeFirst } from './firstBlock.js'
import { findForkPoint } from './forkPoint.js'
import { createFollowFigures, type FollowFigures, SYNCING_BLOCKS } from './status.js'

/** The first block of a new database: a number, or a tag of the upstream at that time. */
export type StartBlock = number | 'latest' | 'finalized'

export interface FollowOptions {
  /** Stops following after the current transaction. */
  signal: AbortSignal
  log: Logger
  /** First block to store in an empty database. Default: 0. Only without execution, or with sparse state. */
  from?: StartBlock
  checkpoints?: Checkpoints
  /** With sparse state, let states that the upstreams have pruned come from access lists. Default: true. */
  listsStates?: boolean
  /** Blocks between two checks of the state root while far behind; 0 or undefined: chosen by the size of the state. */
  rootInterval?: number
  /** Maximum encoded size of a branch in memory before it replaces another. Default: 32 MiB. */
  branchBytes?: number
  /** Figures to continue; default: new ones. */
  figures?: FollowFigures
  /** Time and timers, for tests. */
  clock?: Clock
}

// A branch replaces another in one transaction. Blocks beyond this number, and beyond the head that it replaces, are
// appended afterwards.
const MAX_BRANCH_BLOCKS = 1024
// Encoded size of the part of a branch that is fetched before the transaction begins; the rest arrives while it is
// open.
const BRANCH_BYTES = 32 * 2 ** 20
// Blocks below the newest one where `latest` begins: a reorg must not remove the first block. Longer ones have not been
// seen under proof of stake.
const REORG_MARGIN = 8
// States that a full node keeps before its head.
const KEPT_STATES = 128
// Another upstream may be unreachable for a moment.
const STATE_ATTEMPTS = 20
// Between two attempts to reach a head that an upstream announced but does not return.
const RETRY_MS = 100

/** Keeps a chain equal to that of its upstreams. */
export class Follower {
  private readonly chain: WritableChain
  private readonly rpc: EthRpc
  private readonly head: ChainHead
  private readonly reader: ChainReader
  private readonly signal: AbortSignal
  private readonly log: Logger
  private readonly from: StartBlock
  private readonly checkpoints: Checkpoints | undefined
  private readonly rootInterval: number
  private readonly branchBytes: number
  private readonly listsStates: boolean
  private readonly clock: Clock

  readonly figures: FollowFigures
  private readonly raws: ReturnType<typeof createRawHistory>
  private next: UpstreamHeader | undefined
  /** The upstream that last reported the stored head. */
  private followed: string | undefined
  private failure: { error: unknown } | undefined
  /** Attempts in a row that ended since no upstream has the state. */
  private stateFailures = 0
  private wake = () => {}
  private readonly finality: FinalityFeed

  /** Creates a follower of the upstreams behind `rpc`. The caller closes `rpc`. */
  constructor(chain: WritableChain, rpc: EthRpc, options: FollowOptions) {
    this.chain = chain
    this.rpc = rpc
    this.head = chain.head
    this.reader = chain.reader
    this.signal = options.signal
    this.log = options.log
    this.from = options.from ?? 0
    this.checkpoints = options.checkpoints
    this.rootInterval = options.rootInterval ?? 0
    this.listsStates = options.listsStates ?? true
    this.branchBytes = options.branchBytes ?? BRANCH_BYTES
    this.clock = options.clock ?? systemClock
    this.figures = options.figures ?? createFollowFigures()
    this.figures.begins(this.head.newest?.header.number)
    this.raws = createRawHistory(Math.max(this.rootInterval, 64))
    this.finality = createFinalityFeed(chain, rpc, {
      signal: this.signal,
      onNews: () => this.wake(),
      onError: (error) => this.fail(error),
    })
  }

  /** Resolves when `signal` aborts.
   *  @throws ReorgBelowFinalized, NoCommonBlock when the upstreams' chain cannot be followed; what reading and writing
   *  the database throws; UpstreamError when every upstream is of another chain */
  async run(): Promise<void> {
    const own = this.head.newest?.header.number ?? -1
    // Blocks from files count as final, and so does the genesis; later blocks do not.
    if (!this.head.isFinalityStored()) this.head.finalize({ safe: own, finalized: own })
    const unlisten = this.head.listen({
      changed: (event) => {
        this.figures.changed(event)
        if (event.kind !== 'finalized') this.rpc.progressed()
      },
    })
    const watch = new AbortController()
    const stop = () => {
      watch.abort(this.signal.reason)
      this.wake()
    }
    this.signal.addEventListener('abort', stop, { once: true })
    const watching = this.rpc
      .watchHeads((header) => this.offer(header), watch.signal)
      .catch((error) => this.fail(error))
    try {
      await this.loop()
    } catch (error) {
      if (!this.signal.aborted) throw error
    } finally {
      this.signal.removeEventListener('abort', stop)
      unlisten()
      watch.abort(new Error('following ended'))
      await watching
    }
  }

  private fail(error: unknown): void {
    this.failure ??= { error }
    this.wake()
  }

  private offer(header: UpstreamHeader): void {
    this.figures.sees(header.header.number)
    this.next = header
    this.wake()
  }

  /** Stores one block on top of the newest one, in a transaction of its own. @returns false when no upstream has it any
   *  more */
  private async appendTip(target: UpstreamHeader): Promise<boolean> {
    const raw = await this.rpc.getBlock(target.hash, this.signal, this.needsReceipts)
    if (!raw) return false
    this.raws.add(raw)
    const appender = createBlockAppender(this.chain, { tipFrom: target.header.number })
    try {
      await appender.take(raw, 1)
      await appender.flush()
      this.head.commit()
    } catch (error) {
      withoutHiding(error, () => this.head.rollback())
    }
    return true
  }

  private async catchUp(fromBlock: number, to: number): Promise<void> {
    const withAccessLists = this.chain.sparse?.listing.isActive
    const range = { from: fromBlock, to, parentHash: this.head.newest?.hash, withAccessLists, signal: this.signal }
    if (to - fromBlock >= SYNCING_BLOCKS) this.head.expect(to)
    const source = { kind: 'upstream', path: 'upstream', blocks: () => this.blocksOf(range) }
    const progress = { update() {} }
    await importBlocks(this.chain, source, {
      progress,
      signal: this.signal,
      checkpoints: this.checkpoints,
      rootInterval: this.rootInterval,
      // Making the tries of these from the head down would take as long again, and write much more.
      tipFrom: to - TRIE_HISTORY_BLOCKS,
      finishIndexes: false,
    })
  }

  /** Yields the blocks of a range on top of the newest one, the first block of a database with its total difficulty. */
  private async *blocksOf(range: UpstreamRange) {
    const isFirst = this.head.newest === undefined
    for await (const raw of this.rpc.blocks({ ...range, withReceipts: this.needsReceipts })) {
      const whole =
        isFirst && raw.block.header.number === range.from
          ? await completeFirst(this.chain, this.rpc, raw, this.signal)
          : raw
      this.raws.add(whole)
      yield whole
    }
  }

  private get reorgMargin(): number {
    return this.chain.spec.isDevelopment ? 0 : REORG_MARGIN
  }

  /** Returns the number of the first block of an empty database; undefined where the upstream has no such block yet. */
  private async firstNumber(target: UpstreamHeader): Promise<number | undefined> {
    const { from } = this
    const dumped = this.chain.sparse?.dumpedBlock()
    if (dumped !== undefined) {
      if (typeof from === 'number' && from !== dumped.number) throw new StateDumpAtOtherBlock(from, dumped.number)
      return dumped.number
    }
    if (typeof from === 'number') return from
    if (from === 'latest') return Math.max(0, target.header.number - this.reorgMargin)
    return (await this.rpc.taggedHeader(from, this.signal))?.header.number
  }

  /** Yields the blocks from `ancestor + 1` to `to`, and on towards the target while proof of work makes them the
   *  lighter branch. */
  private async *branchBlocks(ancestor: number, to: number, target: UpstreamHeader, ended: AbortSignal) {
    const range = {
      from: ancestor + 1,
      to: target.header.number,
      parentHash: this.reader.blockHash(ancestor),
      signal: ended,
    }
    let total = this.reader.blockByNumber(ancestor)!.totalDifficulty
    const ownTotal = this.head.newest!.totalDifficulty
    const removesState = ancestor < (this.chain.sparse?.stateFirst ?? 0)
    for await (const raw of this.rpc.blocks({ ...range, withReceipts: removesState || this.needsReceipts })) {
      this.raws.add(raw)
      yield raw
      const { number, difficulty } = raw.block.header
      total += difficulty
      if (number >= to && (difficulty === 0n || total > ownTotal)) return
    }
  }

  /** Replaces the blocks above `ancestor` by the upstream's branch. @returns false to look at the upstream's chain
   *  again */
  private async replace(ancestor: number, target: UpstreamHeader): Promise<boolean> {
    const own = this.head.newest!
    const to = Math.max(own.header.number, ancestor + MAX_BRANCH_BLOCKS)
    const branch = await fetchBranch((ended) => this.branchBlocks(ancestor, to, target, ended), {
      ...{ ancestor, maxBytes: this.branchBytes, clock: this.clock, signal: this.signal },
      isStored: ({ block }) => this.isStored(block.hash, block.header.number),
    })
    if (!branch) return false
    try {
      const { fork } = branch
      const startedMs = performance.now()
      if (!(await adoptBranch(this.chain, branch, { mustBeHeavier: this.rpc.status().length > 1 }))) {
        this.log.debug({ ancestor: fork }, "the upstream's branch does not have more total difficulty; not followed")
        return true
      }
      const ms = Math.round(performance.now() - startedMs)
      await this.checkpoints?.afterCommit()
      const { number } = this.head.newest!.header
      this.log.info(
        { ancestor: fork, removed: own.header.number - fork, added: number - fork, head: number, ms },
        'reorg',
      )
      return this.isStored(target.hash, target.header.number)
    } finally {
      branch.close()
    }
  }

  /** True where blocks are stored without execution; undefined: as the chain always does. */
  private get needsReceipts(): true | undefined {
    const { sparse } = this.chain
    return sparse && (!sparse.hasState || sparse.listing.isActive) && this.head.newest ? true : undefined
  }

  /** Handles that no upstream has the state that the next block needs. Where the chain is far ahead, the state is
   *  pruned for good: states of the blocks up to the upstream's head come from their access lists. Where these are not
   *  to be had either, blocks are stored without state, and it begins again at the upstream's head.
   *  @throws the error again where the state may come back: a node was restarted, or lacks a method */
  private leaveState(error: StateNotAtUpstream, target: UpstreamHeader): void {
    const { sparse } = this.chain
    const { number } = this.head.newest!.header
    this.stateFailures++
    const isFar = target.header.number - number >= KEPT_STATES
    if (!sparse?.hasState || !(isFar || sparse.listing.isActive)) throw error
    if (isFar && this.stateFailures < STATE_ATTEMPTS) return
    this.stateFailures = 0
    const facts = { block: number, upstreamBlock: target.header.number, reason: error.message }
    if (!isFar) sparse.listing.end()
    else if (this.listsStates && !sparse.isComplete() && !sparse.listing.isActive) {
      sparse.listing.begin(target.header.number - this.reorgMargin)
      this.log.warn(
        facts,
        'the upstream does not have the state after this block any more; later states come from access lists of blocks',
      )
    } else {
      sparse.listing.end()
      this.head.storeFacts(() => sparse.close(number))
      this.log.warn(
        facts,
        "the states of later blocks cannot be had; blocks up to the upstream's head are stored without",
      )
    }
  }

  /** Returns the upstream's head. Some nodes announce a new branch block by block: the first of them is not its end. */
  private async newestOf(target: UpstreamHeader): Promise<UpstreamHeader> {
    const newest = await this.rpc.head(this.signal)
    const isSameNode = newest.upstream === target.upstream // another one may be on another fork
    return isSameNode && newest.header.number > target.header.number ? newest : target
  }

  private isStored(hash: Uint8Array, number: number): boolean {
    const held = this.reader.blockHash(number)
    return held !== undefined && equalBytes(held, hash)
  }

  /** True when another upstream has a block on top of finalized number `finalized`. It is asked first from now on. */
  private async isLinkedElsewhere(finalized: number, target: UpstreamHeader): Promise<boolean> {
    if (this.rpc.status().length === 1 || target.header.number <= finalized) return false
    const range = {
      from: finalized + 1,
      to: finalized + 1,
      parentHash: this.reader.blockHash(finalized),
      signal: this.signal,
    }
    try {
      for await (const _ of this.rpc.blocks(range)) return true
    } catch (error) {
      if (!(error instanceof ChainReorganized)) throw error
    }
    return false
  }

  /** Tries once to make the chain that of `target`. @returns false to retry with the upstream's newest head; another
   *  head to try that one */
  private async advance(target: UpstreamHeader): Promise<boolean | UpstreamHeader> {
    const own = this.head.newest
    const { number, parentHash } = target.header
    this.chain.sparse?.resumeAt(number)
    if (!own) {
      const from = await this.firstNumber(target)
      if (from !== undefined && number >= from) await this.catchUp(from, number)
      return true
    }
    if (this.isStored(target.hash, number)) return true // the newest one, or the upstream is behind
    if (number === own.header.number + 1 && equalBytes(parentHash, own.hash)) {
      await completeAncestors(this.chain, this.rpc, this.signal)
      return this.appendTip(target)
    }
    const ancestor = await findForkPoint(this.chain, this.rpc, target, this.signal)
    if (ancestor === undefined) return false
    await completeAncestors(this.chain, this.rpc, this.signal)
    if (ancestor === own.header.number) {
      await this.catchUp(ancestor + 1, number)
      return true
    }
    // Two upstreams on two forks: switching at every failed request would only cause reorgs. Under proof of work the
    // total difficulty decides.
    if (target.header.difficulty === 0n) {
      const { hash, header } = own
      const onFork = await this.rpc.findUpstreamOnFork(
        { hash, number: header.number, upstream: this.followed },
        target,
        this.signal,
      )
      if (onFork) return onFork !== 'unknown' && onFork
    }
    const { finalized } = this.head.finality()
    if (ancestor >= finalized || this.chain.spec.isDevelopment)
      return this.replace(ancestor, await this.newestOf(target))
    if (await this.isLinkedElsewhere(finalized, target)) return false
    throw new ReorgBelowFinalized(ancestor, finalized)
  }

  private async reach(first: UpstreamHeader): Promise<void> {
    for (let target = first; ; ) {
      try {
        const outcome = await this.advance(target)
        if (outcome === true) {
          this.followed = target.upstream
          this.head.expect(undefined)
          this.rpc.progressed()
          this.figures.reached()
          this.stateFailures = 0
          return
        }
        if (outcome) {
          target = outcome
          continue
        }
      } catch (error) {
        if (error instanceof InvalidBlock) {
          const raw = this.raws.find(error)
          if (!raw) throw error
          this.rpc.reportInvalid(raw, error)
        } else if (error instanceof StateNotAtUpstream) this.leaveState(error, target)
        else if (!(error instanceof ChainReorganized || error instanceof BranchStalled)) throw error
      }
      await this.clock.sleep(RETRY_MS, this.signal)
      target = this.next ?? (await this.rpc.head(this.signal))
      this.next = undefined
      this.figures.sees(target.header.number)
    }
  }

  private async loop(): Promise<void> {
    const idle = new IdleWork(this.chain, this.checkpoints)
    while (!this.signal.aborted) {
      if (this.failure) throw this.failure.error
      if (this.next) {
        const target = this.next
        this.next = undefined
        await this.reach(target)
        this.finality.ask()
        idle.blocksStored()
      } else if (this.finality.store()) {
        // Loop again: a head may have come.
      } else if (idle.isDue) {
        await idle.step()
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
      }
    }
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
