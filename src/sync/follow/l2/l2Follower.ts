import { InvalidL2Block } from '../../../chain/starknet/errors.js'
import { decodeFelt, encodeFelt, formatFelt } from '../../../chain/starknet/felt.js'
import type { Logger } from '../../../lib/logger.js'
import type { L2UpstreamHead, L2Upstreams, L2Verified } from '../../../sources/starknet/types.js'
import { type Clock, systemClock } from '../../../sources/upstreams/clock.js'
import { ChainReorganized } from '../../../sources/upstreams/errors.js'
import { type LinkedAbort, linkAbort } from '../../../sources/upstreams/linkedAbort.js'
import type { Checkpoints } from '../../../store/checkpoints.js'
import type { L2Reader } from '../../../store/l2/l2Reader.js'
import type { L2Writer } from '../../../store/l2/l2Writer.js'
import { L2ReorgBelowAccepted } from '../../../store/l2/l2Writer.js'
import type { FollowFigures } from '../status.js'
import { collectBatches } from './batches.js'
import { findL2ForkPoint } from './forkPoint.js'
import type { L2Store } from './l2Store.js'
import { refreshAcceptance, refreshPending } from './refresh.js'
import type { WriteTurns } from './writeTurns.js'

export interface L2FollowOptions {
  /** Stops following after the current transaction. */
  signal: AbortSignal
  log: Logger
  /** First block to store in an empty database. Default: 0. */
  from?: number
  checkpoints?: Checkpoints
  figures: FollowFigures
  /** Time and timers, for tests. */
  clock?: Clock
}

// A branch is fetched whole before it replaces another. Blocks beyond this number, and beyond the head that it
// replaces, are appended afterwards.
const MAX_BRANCH_BLOCKS = 256
// Between two attempts to reach a head that an upstream announced but does not return.
const RETRY_MS = 100
const SUPERSEDED = new Error('the upstream has another head')

/** Keeps the layer-2 chain equal to that of its upstreams. */
export class L2Follower {
  private readonly store: L2Store
  private readonly upstreams: L2Upstreams
  private readonly reader: L2Reader
  private readonly writer: L2Writer
  private readonly turns: WriteTurns
  private readonly signal: AbortSignal
  private readonly log: Logger
  private readonly from: number
  private readonly checkpoints: Checkpoints | undefined
  private readonly figures: FollowFigures
  private readonly clock: Clock
  private newest: L2UpstreamHead | undefined
  private next: L2UpstreamHead | undefined
  private failure: { error: unknown } | undefined
  private wake = () => {}
  private supersede: { below: number; abort(): void } | undefined

  /** Creates a follower of the upstreams. The caller closes them. */
  constructor(store: L2Store, upstreams: L2Upstreams, options: L2FollowOptions) {
    this.store = store
    this.upstreams = upstreams
    this.reader = store.reader
    this.writer = store.writer
    this.turns = store.turns
    this.signal = options.signal
    this.log = options.log
    this.from = options.from ?? 0
    this.checkpoints = options.checkpoints
    this.figures = options.figures
    this.clock = options.clock ?? systemClock
  }

  /** Resolves when `signal` aborts.
   *  @throws L2ReorgBelowAccepted, NoCommonL2Block when the upstreams' chain cannot be followed; what reading and
   *  writing the database throws; UpstreamError when every upstream is of another chain */
  async run(): Promise<void> {
    this.figures.begins(this.reader.head()?.number)
    const watch = linkAbort(this.signal)
    const stop = () => this.wake()
    this.signal.addEventListener('abort', stop, { once: true })
    const refreshing = {
      store: this.store,
      upstreams: this.upstreams,
      clock: this.clock,
      isAtHead: () => this.isAtHead(),
      log: this.log,
      signal: watch.signal,
    }
    const tasks = [
      this.upstreams.watchHeads((head) => this.offer(head), watch.signal),
      refreshPending(refreshing),
      refreshAcceptance(refreshing),
    ].map((task) =>
      task.catch((error: unknown) => {
        if (!watch.signal.aborted) this.fail(error)
      }),
    )
    try {
      await this.loop()
    } catch (error) {
      if (!this.signal.aborted) throw error
    } finally {
      this.signal.removeEventListener('abort', stop)
      watch.abort(new Error('following ended'))
      watch.release()
      await Promise.all(tasks)
    }
  }

  /** Returns the hash of the upstream's newest block. */
  upstreamHash(): string | undefined {
    return this.newest && formatFelt(decodeFelt(this.newest.hash))
  }

  private fail(error: unknown): void {
    this.failure ??= { error }
    this.wake()
  }

  private see(head: L2UpstreamHead): void {
    this.newest = head
    this.figures.sees(head.number)
  }

  private offer(head: L2UpstreamHead): void {
    this.see(head)
    this.next = head
    if (this.supersede && head.number < this.supersede.below) this.supersede.abort()
    this.wake()
  }

  /** Stores blocks on top of the newest one in one transaction. */
  private async append(blocks: readonly L2Verified[]): Promise<void> {
    await this.turns.write(() =>
      this.writer.transaction(() => {
        for (const { block, verdict, raw } of blocks)
          this.take(block, () => this.writer.importBlock(block, verdict, raw))
      }),
    )
    this.figures.changed({ kind: 'append', blocks: blocks.map(({ block }) => ({ number: block.number! })) })
    this.upstreams.progressed()
    await this.checkpoints?.afterCommit()
  }

  /** Stores a block. One that does not fit on the chain is the fault of its upstream. */
  private take(block: L2Verified['block'], store: () => void): void {
    try {
      store()
    } catch (error) {
      if (error instanceof InvalidL2Block)
        this.upstreams.reportInvalid(block, { check: error.check, message: error.message })
      throw error
    }
  }

  /** Returns the result of `work`; undefined when the upstream's head went below `to` meanwhile, so that `work` would
   *  wait for missing blocks. */
  private async unlessSuperseded<T>(to: number, work: (abort: LinkedAbort) => Promise<T>): Promise<T | undefined> {
    const linked = linkAbort(this.signal)
    this.supersede = { below: to, abort: () => linked.abort(SUPERSEDED) }
    try {
      return await work(linked)
    } catch (error) {
      if (error !== SUPERSEDED) throw error
      return undefined
    } finally {
      this.supersede = undefined
      linked.release()
    }
  }

  private async catchUp(first: number, to: number): Promise<void> {
    const own = this.reader.head()
    const parentHash = own && own.number === first - 1 ? encodeFelt(own.hash) : undefined
    await this.unlessSuperseded(to, async (linked) => {
      const blocks = this.upstreams.blocks({ from: first, to, parentHash, signal: linked.signal })
      for await (const batch of collectBatches(blocks)) {
        // Otherwise the end of the iteration would wait for the block being fetched.
        await this.append(batch).catch((error: unknown) => {
          linked.abort(error)
          throw error
        })
        if (this.signal.aborted) return
      }
    })
  }

  private isStored(number: number, hash: bigint): boolean {
    return this.reader.atOrBelow(number)?.hash === hash
  }

  /** Replaces the blocks above `ancestor` by the upstream's branch. @returns false to look at the upstream's chain
   *  again */
  private async replace(ancestor: { number: number; hash: bigint }, target: number): Promise<boolean> {
    const own = this.reader.head()!
    const to = Math.min(target, Math.max(own.number, ancestor.number + MAX_BRANCH_BLOCKS))
    const branch = await this.unlessSuperseded(to, async (linked) => {
      const range = { from: ancestor.number + 1, to, parentHash: encodeFelt(ancestor.hash), signal: linked.signal }
      const blocks: L2Verified[] = []
      for await (const block of this.upstreams.blocks(range)) blocks.push(block)
      return blocks
    })
    if (branch === undefined) return false
    // Another upstream may have returned blocks that are stored.
    const common = branch.findIndex(({ block }) => !this.isStored(block.number!, block.hash!))
    if (common < 0) return false
    const fork = ancestor.number + common
    const added = branch.slice(common)
    const removed = own.number - fork
    await this.turns.write(() => this.take(added[0].block, () => this.writer.replaceBranch(fork, added)))
    this.figures.changed({
      kind: 'reorg',
      ancestor: { number: fork },
      removed: Array.from({ length: removed }),
      added: added.map(({ block }) => ({ number: block.number! })),
    })
    await this.checkpoints?.afterCommit()
    this.log.info({ ancestor: fork, removed, added: added.length, head: this.reader.head()!.number }, 'layer-2 reorg')
    return to === target
  }

  /** True when another upstream has a block on top of this one. It is asked first from now on. */
  private async isLinkedElsewhere({ number, hash }: { number: number; hash: bigint }): Promise<boolean> {
    if (this.upstreams.status().length === 1) return false
    const range = { from: number + 1, to: number + 1, parentHash: encodeFelt(hash), signal: this.signal }
    try {
      for await (const _ of this.upstreams.blocks(range)) return true
    } catch (error) {
      if (!(error instanceof ChainReorganized)) throw error
    }
    return false
  }

  /** Tries once to make the chain that of `target`. @returns false to retry with the upstream's newest head */
  private async advance(target: L2UpstreamHead): Promise<boolean> {
    const own = this.reader.head()
    const { number } = target
    if (own === undefined) {
      if (number >= this.from) await this.catchUp(this.from, number)
      return true
    }
    if (this.isStored(number, decodeFelt(target.hash))) return true // the newest one, or the upstream is behind
    if (number > own.number) {
      try {
        await this.catchUp(own.number + 1, number)
        return true
      } catch (error) {
        if (!(error instanceof ChainReorganized)) throw error
      }
    }
    const head = this.reader.head()!
    const ancestor = await findL2ForkPoint(this.reader, this.upstreams, Math.min(head.number, number), this.signal)
    if (ancestor === undefined) return false
    // No fork: the upstream is behind, or reported a wrong hash.
    if (ancestor.number === this.reader.atOrBelow(number)!.number) return number <= head.number
    const accepted = this.reader.blockAcceptedOnL1()
    if (accepted === undefined || ancestor.number >= accepted.number) return this.replace(ancestor, number)
    if (number > accepted.number && (await this.isLinkedElsewhere(accepted))) return false
    throw new L2ReorgBelowAccepted(ancestor.number, accepted.number)
  }

  private async reach(first: L2UpstreamHead): Promise<void> {
    for (let target = first; ; ) {
      try {
        if (await this.advance(target)) {
          this.upstreams.progressed()
          this.figures.reached()
          return
        }
      } catch (error) {
        if (!(error instanceof InvalidL2Block || error instanceof ChainReorganized)) throw error
      }
      await this.clock.sleep(RETRY_MS, this.signal)
      target = this.next ?? (await this.upstreams.head(this.signal))
      this.next = undefined
      this.see(target)
    }
  }

  private async loop(): Promise<void> {
    while (!this.signal.aborted) {
      if (this.failure) throw this.failure.error
      if (this.next) {
        const target = this.next
        this.next = undefined
        await this.reach(target)
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
      }
    }
  }

  private isAtHead(): boolean {
    return (
      this.newest !== undefined && this.next === undefined && (this.reader.head()?.number ?? -1) >= this.newest.number
    )
  }
}
