import type { LogSettings } from '../../lib/logger.js'
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
export interface LeaderSessionStatus {
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
