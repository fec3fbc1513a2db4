import type { FollowStatus } from '../../ingest/follow/status.js'
import type { ReplicationStatus } from '../../ingest/replication/status.js'

/** Most blocks that a replica may be behind unless the operator says otherwise. */
export const REPLICA_MAX_LAG = 16

/** Where a server's chain comes from. */
export interface LagSources {
  replication(): ReplicationStatus | undefined
  /** Of layer 1; null without upstreams. */
  following(): FollowStatus | null
  /** Most blocks behind; 0: any number. Undefined: `REPLICA_MAX_LAG` for a replica, any number for other servers. */
  readonly maxLag: number | undefined
}

/** Creates a check of how far a server is behind the chain: why it is not to be asked, undefined if it may be. A replica that
 *  stopped, or has not caught up once since its start, is not to be asked either, unless `maxLag` is 0. */
export function createLagCheck({ replication, following, maxLag }: LagSources): () => string | undefined {
  let hasCaughtUp = false
  const tooFar = (blocks: number, limit: number) =>
    limit > 0 && blocks > limit ? `${blocks} blocks behind, at most ${limit} are allowed (--max-lag)` : undefined
  return () => {
    const status = replication()
    if (status === undefined || (status.role !== 'replica' && status.role !== 'standby')) {
      const { block = null, upstreamBlock = null } = following() ?? {}
      return upstreamBlock === null ? undefined : tooFar(upstreamBlock - (block ?? -1), maxLag ?? 0)
    }
    const { state, problem, lagBlocks } = status
    const limit = maxLag ?? REPLICA_MAX_LAG
    if (limit === 0) return undefined
    if (state === 'alarm' || state === 'failed') return `the replica has stopped: ${problem ?? state}`
    hasCaughtUp ||= state === 'following'
    return tooFar(lagBlocks, limit) ?? (hasCaughtUp ? undefined : 'the replica has not caught up yet')
  }
}
