import type { FollowStatus } from '../../sync/follow/status.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'

/** Maximum blocks that a replica may be behind, by default. */
export const REPLICA_MAX_LAG = 16

/** Maximum seconds that a replica may be behind, or without contact with its source, by default. */
export const REPLICA_MAX_LAG_SECONDS = 60

/** Maximum seconds that a follower with a block limit may be stopped: while no upstream answers, its lag is unknown. */
export const FOLLOWER_MAX_STOP_SECONDS = 60

/** Sources of a server's chain. */
export interface LagSources {
  replication(): ReplicationStatus | undefined
  /** Status of layer 1; null without upstreams. */
  following(): FollowStatus | null
  /** Maximum blocks behind; 0: any number. Undefined: `REPLICA_MAX_LAG` for a replica, any number for other servers. */
  readonly maxLag: number | undefined
  /** Maximum seconds that a replica may be behind, as in `ReplicationStatus`, or a follower may be stopped; 0: any
   *  number. Undefined: `REPLICA_MAX_LAG_SECONDS` and `FOLLOWER_MAX_STOP_SECONDS`, any number if `maxLag` is 0, and for
   *  a follower without `maxLag`. */
  readonly maxLagSeconds: number | undefined
}

/** Creates a check of a server's lag: returns why it is not ready, undefined if it is ready. A replica that stopped, or
 *  has not caught up once since its start, is not ready either, unless `maxLag` is 0. */
export function createLagCheck({
  replication,
  following,
  maxLag,
  maxLagSeconds,
}: LagSources): () => string | undefined {
  let hasCaughtUp = false
  const tooFar = (blocks: number | null, limit: number) =>
    limit > 0 && blocks !== null && blocks > limit
      ? `${blocks} blocks behind, at most ${limit} are allowed (--max-lag)`
      : undefined
  const tooLong = (seconds: number, limit: number, problem: string | null) => {
    if (limit === 0 || seconds <= limit) return undefined
    const reason = problem === null ? '' : `: ${problem}`
    return `${seconds} s behind, at most ${limit} are allowed (--max-lag-seconds)${reason}`
  }
  const stoppedFor = ({ seconds, block, check, reason }: NonNullable<FollowStatus['stopped']>) => {
    const limit = maxLagSeconds ?? (maxLag ? FOLLOWER_MAX_STOP_SECONDS : 0)
    if (limit === 0 || seconds <= limit) return undefined
    const where = block === null ? '' : ` at block ${block}`
    return `stopped${where} for ${seconds} s, at most ${limit} are allowed (--max-lag-seconds): ${check}: ${reason}`
  }
  return () => {
    const status = replication()
    if (status === undefined || (status.role !== 'replica' && status.role !== 'standby')) {
      const status = following()
      if (status === null) return undefined
      const { block, upstreamBlock, stopped } = status
      const behind = upstreamBlock === null ? undefined : tooFar(upstreamBlock - (block ?? -1), maxLag ?? 0)
      return behind ?? (stopped ? stoppedFor(stopped) : undefined)
    }
    const { state, problem, lagBlocks, lagSeconds } = status
    const limit = maxLag ?? REPLICA_MAX_LAG
    const isLate = tooLong(lagSeconds, maxLagSeconds ?? (limit === 0 ? 0 : REPLICA_MAX_LAG_SECONDS), problem)
    if (limit === 0) return isLate
    if (state === 'alarm' || state === 'failed') return `the replica has stopped: ${problem ?? state}`
    hasCaughtUp ||= state === 'following'
    return tooFar(lagBlocks, limit) ?? isLate ?? (hasCaughtUp ? undefined : 'the replica has not caught up yet')
  }
}
