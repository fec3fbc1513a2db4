import type { LogSettings } from '../../lib/logger.js'
import type { ReplicaChain } from '../apply/replicaChain.js'
import type { NatsSettings } from '../nats/connection.js'

/** Start data of the thread that takes the lease of the writer and publishes. */
export interface LeaderSessionData {
  readonly datadir: string
  readonly chain: ReplicaChain
  readonly nats: NatsSettings
  /** How many blocks below the head an empty stream begins. */
  readonly publishBlocks: number
  readonly logging: LogSettings
}

/** What the thread is asked. `seek`: take the lease once it has been free for `graceMs`. `publish`: the database holds everything in the
 *  stream, publish what it has more. `stop`: publish what is committed, give the lease back, and end. */
export type LeaderSessionRequest =
  | { readonly kind: 'seek'; readonly graceMs: number }
  | { readonly kind: 'publish' }
  | { readonly kind: 'stop' }

/** How publishing goes. */
export interface LeaderSessionStatus {
  /** Of the lease; 0 before it is held. */
  readonly epoch: number
  /** Of the last message that was acknowledged; 0 before the first. */
  readonly sequence: number
  /** Blocks that are stored and not published. */
  readonly lagBlocks: number
  /** Age of the oldest of them; 0 without one. */
  readonly lagSeconds: number
  /** Why there is no connection, or why publishing waits; null when all is well. */
  readonly problem: string | null
}

/** What the thread says. `taken`: another process has the lease. `held`: this one has it; `isWhole`: the database holds everything in
 *  the stream, whose last sequence is `end`. `ended`: the last message; `isLost`: the lease is another's, or may be. */
export type LeaderSessionReply =
  | { readonly kind: 'taken' }
  | { readonly kind: 'held'; readonly epoch: number; readonly end: number; readonly isWhole: boolean }
  | { readonly kind: 'status'; readonly status: LeaderSessionStatus }
  | { readonly kind: 'ended'; readonly problem: string; readonly isLost: boolean }
