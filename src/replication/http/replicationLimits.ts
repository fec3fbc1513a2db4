/** Limits of `GET /replication`. */
export interface ReplicationLimits {
  /** Max concurrent replicas. */
  readonly streams: number
  /** Time after which a stream ends, and the replica opens another one. */
  readonly streamMs: number
}

/** Default limits of `GET /replication`. */
export const DEFAULT_REPLICATION_LIMITS: ReplicationLimits = { streams: 16, streamMs: 3_600_000 }
