import type { Stopped } from './follow/stopped.js'

/** Role of a process in replication. `writer`: it has the lease, and publishes its chain. `replica`: it applies the
 *  blocks that another process publishes. `standby`: a replica that takes over when the writer is gone. `none`:
 *  neither. */
export type ReplicationRole = 'writer' | 'replica' | 'standby' | 'none'

/** `catching up`: it has not reached the newest block that it knows of, or has had no contact with its source yet.
 *  `alarm`: it stopped, and an operator has to decide. `failed`: it stopped with an error. */
export type ReplicationState = 'following' | 'catching up' | 'alarm' | 'failed'

/** A snapshot of replication, for health, metrics and the page. */
export interface ReplicationStatus {
  readonly role: ReplicationRole
  /** Epoch of the writer: higher for each new one; 0 over HTTP. */
  readonly epoch: number
  /** Sequence of the last published or applied message in the stream; 0 over HTTP. */
  readonly sequence: number
  /** Blocks behind the newest known one; of a writer: stored and not published. Null while unknown: a replica has had
   *  no contact with its source, or no server had the lease of the writer, for 10 s. */
  readonly lagBlocks: number | null
  /** Age of the oldest known block that this process does not have, or as a writer has not published; 0 without one.
   *  While a replica has no contact with its source, or there is no writer, at least the seconds since the last one:
   *  the newest block is unknown. */
  readonly lagSeconds: number
  readonly state: ReplicationState
  /** Why the state is `alarm` or `failed`, or why there is no connection; null when all is well. */
  readonly problem: string | null
  /** The block and the check of the problem, where the state is `alarm` or `failed`. */
  readonly stopped?: Stopped
  /** True when the blocks after the newest one are no longer available from this process's source: only a newer
   *  database helps. */
  readonly needsSnapshot?: true
}
