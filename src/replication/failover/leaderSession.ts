import { describeError } from '../../lib/errors.js'
import type { LogSettings } from '../../lib/logger.js'
import { Thread } from '../../workers/spawn.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { NatsSettings } from '../nats/connection.js'

/** Start data of the thread that takes the lease of the writer and publishes. */
export interface LeaderSessionData {
  readonly datadir: string
  readonly chain: ReplicaChain
  readonly nats: NatsSettings
  /** Blocks below the head at which an empty stream starts. */
  readonly publishBlocks: number
  readonly logging: LogSettings
}

/** Requests to the thread. `seek`: take the lease once it has been free for `graceMs`. `publish`: the database has
 *  everything in the stream, publish newer blocks. `stop`: publish what is committed, release the lease, and end. */
export type LeaderSessionRequest =
  | { readonly kind: 'seek'; readonly graceMs: number }
  | { readonly kind: 'publish' }
  | { readonly kind: 'stop' }

/** Status of publishing. */
interface LeaderSessionStatus {
  /** Epoch of the lease; 0 before this process holds it. */
  readonly epoch: number
  /** Sequence of the last acknowledged message; 0 before the first. */
  readonly sequence: number
  /** Blocks that are stored and not published. */
  readonly lagBlocks: number
  /** Age of the oldest unpublished block, in seconds; 0 without one. */
  readonly lagSeconds: number
  /** Why there is no connection, or why publishing waits; null when all is well. */
  readonly problem: string | null
}

/** Messages of the thread. `taken`: another process holds the lease. `held`: this process holds it; `isWhole`: the
 *  database has everything in the stream, whose last sequence is `end`. `ended`: the last message; `isLost`: another
 *  process holds the lease, or may. */
export type LeaderSessionReply =
  | { readonly kind: 'taken' }
  | { readonly kind: 'held'; readonly epoch: number; readonly end: number; readonly isWhole: boolean }
  | { readonly kind: 'status'; readonly status: LeaderSessionStatus }
  | { readonly kind: 'ended'; readonly problem: string; readonly isLost: boolean }

/** Why a leader session ended. */
interface LeaderSessionEnd {
  readonly problem: string
  /** True when another process holds the lease, or may; false for a failure. */
  readonly isLost: boolean
}

/** A leader session that holds its lease. */
export interface ActiveLeaderSession {
  readonly epoch: number
  /** The last sequence of the stream. */
  readonly end: number
  /** True when the database has everything in the stream. */
  readonly isWhole: boolean
}

/** One leader session: from the wait for the lease to its loss, in a thread of its own. */
export interface LeaderSession {
  /** Campaigns: takes the lease once it has been free for `graceMs`. */
  seek(graceMs: number): void
  /** Resolves when this process holds the lease. */
  readonly held: Promise<ActiveLeaderSession>
  /** Resolves when another process is seen to hold the lease. */
  readonly taken: Promise<void>
  /** Publishes the chain from now on. */
  publish(): void
  status(): LeaderSessionStatus
  /** Resolves when the thread has ended. */
  readonly ended: Promise<LeaderSessionEnd>
  /** Publishes what is committed, for at most two seconds, releases the lease, and ends the thread. */
  close(): Promise<void>
}

/** Starts the thread. It takes the lease only after `seek`. */
export function startLeaderSession(data: LeaderSessionData): LeaderSession {
  let status: LeaderSessionStatus = { epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0, problem: null }
  let end: LeaderSessionEnd = { problem: 'the thread that publishes ended', isLost: false }
  let onTaken = () => {}
  let onHeld: (held: ActiveLeaderSession) => void = () => {}
  const taken = new Promise<void>((resolve) => {
    onTaken = resolve
  })
  const held = new Promise<ActiveLeaderSession>((resolve) => {
    onHeld = resolve
  })
  const thread = new Thread<LeaderSessionRequest, LeaderSessionReply>(
    new URL('./leaderSessionThread.js', import.meta.url),
    {
      data,
      onMessage: (reply) => {
        if (reply.kind === 'status') status = reply.status
        else if (reply.kind === 'taken') onTaken()
        else if (reply.kind === 'held') {
          status = { ...status, epoch: reply.epoch }
          onHeld(reply)
        } else end = reply
      },
      onEnd: (error) => {
        if (error !== undefined) end = { problem: describeError(error), isLost: false }
      },
    },
  )
  const ended = thread.exited.then(() => end)
  return {
    seek: (graceMs) => thread.post({ kind: 'seek', graceMs }),
    held,
    taken,
    publish: () => thread.post({ kind: 'publish' }),
    status: () => status,
    ended,
    close: async () => {
      await thread.end({ kind: 'stop' })
    },
  }
}
