import type { Metrics } from '../../lib/metrics.js'
import type { ReplicationRole, ReplicationState, ReplicationStatus } from '../../sync/replicationStatus.js'

const ROLES: readonly ReplicationRole[] = ['writer', 'replica', 'standby', 'none']
const STATES: readonly ReplicationState[] = ['following', 'catching up', 'alarm', 'failed']

/** Registers metrics of a server's part in replication; `status` is undefined for a server without one. */
export function registerReplicationMetrics(metrics: Metrics, status: () => ReplicationStatus | undefined): void {
  metrics.gauge('cairn_replication_role', '1 for the present role in replication, 0 for the others.', () => {
    const now = status()?.role ?? 'none'
    return ROLES.map((role) => [{ role }, Number(now === role)])
  })
  metrics.gauge('cairn_replication_state', '1 for the present state of replication, 0 for the others.', () => {
    const now = status()?.state
    return now === undefined ? undefined : STATES.map((state) => [{ state }, Number(now === state)])
  })
  metrics.gauge('cairn_replication_epoch', 'Epoch of the writer.', () => status()?.epoch)
  metrics.gauge(
    'cairn_replication_sequence',
    'Sequence in the stream of the last message that was published or applied.',
    () => status()?.sequence,
  )
  metrics.gauge(
    'cairn_replication_lag_blocks',
    'Blocks behind the newest one that is known of; of a writer: stored and not published. Absent while it is not known.',
    () => status()?.lagBlocks ?? undefined,
  )
  metrics.gauge(
    'cairn_replication_lag_seconds',
    'Age of the oldest known block that is not there, or not published; without contact with the source, or without a writer, at least the time since the last.',
    () => status()?.lagSeconds,
  )
  metrics.gauge(
    'cairn_replication_problem',
    '1 while /health names a problem of replication, such as a lost connection.',
    () => {
      const now = status()
      return now === undefined ? undefined : Number(now.problem !== null)
    },
  )
}
