import { InvalidL2Block } from '../../../chain/starknet/errors.js'
import { decodeFelt, encodeFelt, formatFelt } from '../../../chain/starknet/felt.js'
import type { Logger } from '../../../lib/logger.js'
import type { L2UpstreamHead, L2Upstreams, L2Verified } from '../../../sources/starknet/types.js'
import { type Clock, systemClock } from '../../../sources/upstreams/clock.js'
import { ChainReorganized } from '../../../sources/upstreams/errors.js'
import { type LinkedAbort, linkAbort } from '../../../sources/upstreams/linkedAbort.js'
import type { Checkpoints } from '../../../store/checkpoints.js'
import { L2ReorgBelowAccepted } from '../../../store/l2/l2Writer.js'
import type { FollowFigures } from '../status.js'
import { collectBatches } from './batches.js'
import { findL2ForkPoint } from './forkPoint.js'
import type { L2Store } from './l2Store.js'
import { refreshAcceptance, refreshPending } from './refresh.js'

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

/** Keeps the layer-2 chain equal to that of its upstreams. */
export interface L2Follower {
  /** Resolves when `signal` aborts.
   *  @throws L2ReorgBelowAccepted, NoCommonL2Block when the upstreams' chain cannot be followed; what reading and
   *  writing the database throws; UpstreamError when every upstream is of another chain */
  run(): Promise<void>
  /** Returns the hash of the upstream's newest block. */
  upstreamHash(): string | undefined
}

// A branch is fetched whole before it replaces another. Blocks beyond this number, and beyond the head that it
// replaces, are appended afterwards.
const MAX_BRANCH_BLOCKS = 256
// Between two attempts to reach a head that an upstream announced but does not return.
const RETRY_MS = 100
const SUPERSEDED = new Error('the upstream has another head')

/** Creates a follower of the upstreams. The caller closes them. */
export function createL2Follower(store: L2Store, upstreams: L2Upstreams, options: L2FollowOptions): L2Follower {
  const { reader, writer, turns } = store
  const { signal, log, from = 0, checkpoints, figures, clock = systemClock } = options
  let newest: L2UpstreamHead | undefined
  let next: L2UpstreamHead | undefined
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let supersede: { below: number; abort(): void } | undefined

  const fail = (error: unknown) => {
    failure ??= { error }
    wake()
  }
  const see = (head: L2UpstreamHead) => {
    newest = head
    figures.sees(head.number)
  }
  const offer = (head: L2UpstreamHead) => {
    see(head)
    next = head
    if (supersede && head.number < supersede.below) supersede.abort()
    wake()
  }
  /** Stores blocks on top of the newest one in one transaction. */
  const append = async (blocks: readonly L2Verified[]): Promise<void> => {
    await turns.write(() =>
      writer.transaction(() => {
        for (const { block, verdict, raw } of blocks) take(block, () => writer.importBlock(block, verdict, raw))
      }),
    )
    figures.changed({ kind: 'append', blocks: blocks.map(({ block }) => ({ number: block.number! })) })
    upstreams.progressed()
    await checkpoints?.afterCommit()
  }
  /** Stores a block. One that does not fit on the chain is the fault of its upstream. */
  const take = (block: L2Verified['block'], store: () => void) => {
    try {
      store()
    } catch (error) {
      if (error instanceof InvalidL2Block)
        upstreams.reportInvalid(block, { check: error.check, message: error.message })
      throw error
    }
  }
  /** Returns the result of `work`; undefined when the upstream's head went below `to` meanwhile, so that `work` would
   *  wait for missing blocks. */
  const unlessSuperseded = async <T>(to: number, work: (abort: LinkedAbort) => Promise<T>): Promise<T | undefined> => {
    const linked = linkAbort(signal)
    supersede = { below: to, abort: () => linked.abort(SUPERSEDED) }
    try {
      return await work(linked)
    } catch (error) {
      if (error !== SUPERSEDED) throw error
      return undefined
    } finally {
      supersede = undefined
      linked.release()
    }
  }
  const catchUp = async (first: number, to: number): Promise<void> => {
    const own = reader.head()
    const parentHash = own && own.number === first - 1 ? encodeFelt(own.hash) : undefined
    await unlessSuperseded(to, async (linked) => {
      const blocks = upstreams.blocks({ from: first, to, parentHash, signal: linked.signal })
      for await (const batch of collectBatches(blocks)) {
        // Otherwise the end of the iteration would wait for the block being fetched.
        await append(batch).catch((error: unknown) => {
          linked.abort(error)
          throw error
        })
        if (signal.aborted) return
      }
    })
  }
  const isStored = (number: number, hash: bigint) => reader.atOrBelow(number)?.hash === hash

  /** Replaces the blocks above `ancestor` by the upstream's branch. @returns false to look at the upstream's chain
   *  again */
  const replace = async (ancestor: { number: number; hash: bigint }, target: number): Promise<boolean> => {
    const own = reader.head()!
    const to = Math.min(target, Math.max(own.number, ancestor.number + MAX_BRANCH_BLOCKS))
    const branch = await unlessSuperseded(to, async (linked) => {
      const range = { from: ancestor.number + 1, to, parentHash: encodeFelt(ancestor.hash), signal: linked.signal }
      const blocks: L2Verified[] = []
      for await (const block of upstreams.blocks(range)) blocks.push(block)
      return blocks
    })
    if (branch === undefined) return false
    // Another upstream may have returned blocks that are stored.
    const common = branch.findIndex(({ block }) => !isStored(block.number!, block.hash!))
    if (common < 0) return false
    const fork = ancestor.number + common
    const added = branch.slice(common)
    const removed = own.number - fork
    await turns.write(() => take(added[0].block, () => writer.replaceBranch(fork, added)))
    figures.changed({
      kind: 'reorg',
      ancestor: { number: fork },
      removed: Array.from({ length: removed }),
      added: added.map(({ block }) => ({ number: block.number! })),
    })
    await checkpoints?.afterCommit()
    log.info({ ancestor: fork, removed, added: added.length, head: reader.head()!.number }, 'layer-2 reorg')
    return to === target
  }
  /** True when another upstream has a block on top of this one. It is asked first from now on. */
  const isLinkedElsewhere = async ({ number, hash }: { number: number; hash: bigint }): Promise<boolean> => {
    if (upstreams.status().length === 1) return false
    const range = { from: number + 1, to: number + 1, parentHash: encodeFelt(hash), signal }
    try {
      for await (const _ of upstreams.blocks(range)) return true
    } catch (error) {
      if (!(error instanceof ChainReorganized)) throw error
    }
    return false
  }
  /** Tries once to make the chain that of `target`. @returns false to retry with the upstream's newest head */
  const advance = async (target: L2UpstreamHead): Promise<boolean> => {
    const own = reader.head()
    const { number } = target
    if (own === undefined) {
      if (number >= from) await catchUp(from, number)
      return true
    }
    if (isStored(number, decodeFelt(target.hash))) return true // the newest one, or the upstream is behind
    if (number > own.number) {
      try {
        await catchUp(own.number + 1, number)
        return true
      } catch (error) {
        if (!(error instanceof ChainReorganized)) throw error
      }
    }
    const head = reader.head()!
    const ancestor = await findL2ForkPoint(reader, upstreams, Math.min(head.number, number), signal)
    if (ancestor === undefined) return false
    // No fork: the upstream is behind, or reported a wrong hash.
    if (ancestor.number === reader.atOrBelow(number)!.number) return number <= head.number
    const accepted = reader.blockAcceptedOnL1()
    if (accepted === undefined || ancestor.number >= accepted.number) return replace(ancestor, number)
    if (number > accepted.number && (await isLinkedElsewhere(accepted))) return false
    throw new L2ReorgBelowAccepted(ancestor.number, accepted.number)
  }
  const reach = async (first: L2UpstreamHead): Promise<void> => {
    for (let target = first; ; ) {
      try {
        if (await advance(target)) {
          upstreams.progressed()
          figures.reached()
          return
        }
      } catch (error) {
        if (!(error instanceof InvalidL2Block || error instanceof ChainReorganized)) throw error
      }
      await clock.sleep(RETRY_MS, signal)
      target = next ?? (await upstreams.head(signal))
      next = undefined
      see(target)
    }
  }
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      if (failure) throw failure.error
      if (next) {
        const target = next
        next = undefined
        await reach(target)
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  const isAtHead = () => newest !== undefined && next === undefined && (reader.head()?.number ?? -1) >= newest.number
  return {
    upstreamHash: () => newest && formatFelt(decodeFelt(newest.hash)),
    run: async () => {
      figures.begins(reader.head()?.number)
      const watch = linkAbort(signal)
      const stop = () => wake()
      signal.addEventListener('abort', stop, { once: true })
      const refreshing = { store, upstreams, clock, isAtHead, log, signal: watch.signal }
      const tasks = [
        upstreams.watchHeads(offer, watch.signal),
        refreshPending(refreshing),
        refreshAcceptance(refreshing),
      ].map((task) =>
        task.catch((error: unknown) => {
          if (!watch.signal.aborted) fail(error)
        }),
      )
      try {
        await loop()
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        signal.removeEventListener('abort', stop)
        watch.abort(new Error('following ended'))
        watch.release()
        await Promise.all(tasks)
      }
    },
  }
}
