import type { Stopped } from './follow/stopped.js'

/** What a process does in replication. `writer`: it has the lease, and publishes its chain. `replica`: it applies what another one
 *  publishes. `standby`: a replica that takes over when the writer is gone. `none`: neither. */
export type ReplicationRole = 'writer' | 'replica' | 'standby' | 'none'

/** `catching up`: it has not reached the newest block that it knows of, or has had no contact with its source yet. `alarm`: it stopped, and an operator has to decide.
 *  `failed`: it stopped with an error. */
export type ReplicationState = 'following' | 'catching up' | 'alarm' | 'failed'

/** A snapshot of replication, for health, metrics and the page. */
export interface ReplicationStatus {
  readonly role: ReplicationRole
  /** Of the writer: higher for each new one; 0 over HTTP. */
  readonly epoch: number
  /** In the stream, of the last message that was published or applied; 0 over HTTP. */
  readonly sequence: number
  /** Blocks behind the newest one that is known of; of a writer: stored and not published. Null where it is not known: a replica has
   *  had no contact with its source, or no server had the lease of the writer, for 10 s. */
  readonly lagBlocks: number | null
  /** Age of the oldest known block that this process does not have, or as a writer has not published; 0 without one. While a replica has
   *  no contact with its source, or there is no writer, at least the seconds since the last one: the newest block is unknown. */
  readonly lagSeconds: number
  readonly state: ReplicationState
  /** Why the state is `alarm` or `failed`, or why there is no connection; null when all is well. */
  readonly problem: string | null
  /** The block and the check of the problem, where the state is `alarm` or `failed`. */
  readonly stopped?: Stopped
  /** True when what follows the newest block is not available any more by what this process reads: only a newer database helps. */
  readonly needsSnapshot?: true
}
