import type { L2FollowStatus } from '../../sync/follow/l2/status.js'
import type { FollowStatus } from '../../sync/follow/status.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'

/** Background work of a server or `cairn sync`. */
export interface BackgroundStatus {
  /** Following of layer 1; null without upstreams. */
  readonly l1: FollowStatus | null
  readonly l2: L2FollowStatus | null
  readonly replication?: ReplicationStatus
}

/** Why the chain of a server does not grow. */
export interface Problem {
  readonly source: 'layer 1' | 'layer 2' | 'replication'
  readonly state: string
  /** The block that cannot be stored; null if unknown. */
  readonly block: number | null
  /** Short name of what failed, such as `state root`, `disk space` or `connection`. */
  readonly check: string
  readonly reason: string
}

/** The first problem of the background work; null if there is no problem. */
export function findProblem({ l1, l2, replication }: BackgroundStatus): Problem | null {
  if (l1?.stopped) return describe('layer 1', l1.state, l1.stopped)
  if (l2?.stopped) return describe('layer 2', l2.state, l2.stopped)
  if (!replication || replication.problem === null) return null
  const { problem, state, role } = replication
  const check = role === 'writer' ? 'publishing' : 'connection'
  return describe('replication', state, replication.stopped ?? { block: null, check, reason: problem })
}

function describe(
  source: Problem['source'],
  state: string,
  { block, check, reason }: Pick<Problem, 'block' | 'check' | 'reason'>,
): Problem {
  return { source, state, block, check, reason }
}

/** One line: `layer 1 is stuck at block 12: state root: expected 0x…`. */
export function formatProblem({ source, state, block, check, reason }: Problem): string {
  const where = block === null ? '' : ` at block ${block.toLocaleString('en')}`
  return `${source}: ${state}${where}: ${check}: ${reason}`
}
