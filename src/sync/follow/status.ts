import { monotonicMs } from '../../lib/progressDisplay.js'
import { createRateMeter, estimateLeft } from '../../lib/rateMeter.js'
import type { UpstreamStatus } from '../../sources/upstreams/types.js'
import type { EngineFigures } from '../engine/engineFigures.js'
import type { StateFetchStatus } from '../sparse/stateFigures.js'
import type { Stopped } from './stopped.js'

/** State of following. `starting`: no head of an upstream is known yet. `syncing`: more than 16 blocks behind it.
 *  `stuck`: no upstream answers, or none sends the next block so that it passes the checks. `alarm`: the upstreams'
 *  chain would replace finalized blocks, and is not followed. `failed`: anything else stopped it, such as a full disk.
 *  Following resumes by itself from the last three. */
export type FollowState = 'starting' | 'syncing' | 'following' | 'stuck' | 'alarm' | 'failed'

/** A snapshot of a follower, for health, metrics and progress. */
export interface FollowStatus {
  readonly state: FollowState
  /** Newest block stored; null without one. */
  readonly block: number | null
  /** Newest block of the upstream; null while unknown. */
  readonly upstreamBlock: number | null
  /** Newest block when the current sync began; null unless `state` is `syncing`. */
  readonly syncStart: number | null
  /** Average of the last half minute. */
  readonly blocksPerSecond: number
  /** Estimated time until the upstream's head is reached; null when it cannot be estimated. */
  readonly secondsLeft: number | null
  /** Reorgs, and the blocks that they removed, since the start. */
  readonly reorgs: number
  readonly removedBlocks: number
  /** Why the state is `stuck`, `alarm` or `failed`, as text. */
  readonly problem: string | null
  /** The same with the block and the check, and the duration; null in the other states. */
  readonly stopped: (Stopped & { readonly seconds: number }) | null
  readonly upstreams: readonly UpstreamStatus[]
  /** State that was fetched, with sparse state. */
  readonly stateFetches?: StateFetchStatus
  /** What a consensus client sent; absent where upstreams are followed. */
  readonly engine?: EngineFigures
}

/** Farther behind, `eth_syncing` reports a sync. */
export const SYNCING_BLOCKS = 16

/** A change of a chain that figures count: events of the head, and changes of layer 2. */
export type FollowedChange =
  | { readonly kind: 'append'; readonly blocks: readonly { readonly number: number }[] }
  | {
      readonly kind: 'reorg'
      readonly ancestor: { readonly number: number }
      readonly removed: readonly unknown[]
      readonly added: readonly { readonly number: number }[]
    }
  | { readonly kind: 'finalized' }

/** Counts what a follower does. */
export interface FollowFigures {
  /** Notes the upstream's newest block. */
  sees(upstreamBlock: number): void
  /** Counts a change of the chain. */
  changed(event: FollowedChange): void
  /** Following begins or resumes with this newest block. */
  begins(head: number | undefined): void
  /** Following stopped after an error; it counts as stopped until a block is stored or the upstream's head is
   *  reached. */
  stops(state: 'alarm' | 'failed', stopped: Stopped): void
  /** The upstream's head is reached. */
  reached(): void
  /** Returns the status. `stall`: what the upstreams lack now, and for how many milliseconds. */
  status(stall?: { readonly stopped: Stopped; readonly ms: number }): Omit<FollowStatus, 'upstreams'>
}

/** Figures before following has begun. */
export function createFollowFigures(): FollowFigures {
  const meter = createRateMeter(1, monotonicMs)
  let block: number | null = null
  let upstreamBlock: number | null = null
  let syncStart: number | null = null
  let [stored, reorgs, removedBlocks] = [0, 0, 0]
  let ended: { state: 'alarm' | 'failed'; stopped: Stopped; sinceMs: number } | undefined
  meter.add([0])

  const distance = () => (upstreamBlock === null ? 0 : upstreamBlock - (block ?? -1))
  const look = () => {
    if (distance() > SYNCING_BLOCKS) syncStart ??= block ?? 0
    else syncStart = null
  }
  return {
    begins: (head) => {
      block = head ?? null
      syncStart = null
      look()
    },
    sees: (number) => {
      upstreamBlock = number
      look()
    },
    changed: (event) => {
      if (event.kind === 'finalized') return
      ended = undefined
      const added = event.kind === 'append' ? event.blocks : event.added
      block = added.at(-1)?.number ?? (event.kind === 'reorg' ? event.ancestor.number : block)
      stored += added.length
      meter.add([stored])
      if (event.kind === 'reorg') {
        reorgs++
        removedBlocks += event.removed.length
      }
      look()
    },
    stops: (state, stopped) => {
      ended = { state, stopped, sinceMs: ended?.sinceMs ?? monotonicMs() }
    },
    reached: () => {
      ended = undefined
    },
    status: (stall) => {
      meter.add([stored])
      const [blocksPerSecond] = meter.perSecond()
      const secondsLeft = syncStart === null ? null : (estimateLeft(distance(), blocksPerSecond, meter) ?? null)
      const figures = { block, upstreamBlock, syncStart, blocksPerSecond, secondsLeft, reorgs, removedBlocks }
      const why = ended
        ? { ...ended, ms: monotonicMs() - ended.sinceMs }
        : stall && ({ ...stall, state: 'stuck' } as const)
      if (why) {
        const { state, stopped, ms } = why
        return { ...figures, state, problem: stopped.reason, stopped: { ...stopped, seconds: Math.floor(ms / 1000) } }
      }
      const state = upstreamBlock === null ? 'starting' : syncStart === null ? 'following' : 'syncing'
      return { ...figures, state, problem: null, stopped: null }
    },
  }
}
