import type { FollowStatus } from '../status.js'

/** A snapshot of a follower of layer 2. */
export interface L2FollowStatus extends FollowStatus {
  /** Hash of `upstreamBlock`, as the upstream reports it; null while unknown. */
  readonly upstreamHash: string | null
  /** Highest block accepted on layer 1; null without one. */
  readonly acceptedOnL1: number | null
}
