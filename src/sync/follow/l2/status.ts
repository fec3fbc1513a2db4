import type { FollowStatus } from '../status.js'

/** A snapshot of a follower of layer 2. */
export interface L2FollowStatus extends FollowStatus {
  /** Hash of `upstreamBlock`, as the upstream says it; null while it is not known. */
  readonly upstreamHash: string | null
  /** Highest block accepted on layer 1; null while there is none. */
  readonly acceptedOnL1: number | null
}
