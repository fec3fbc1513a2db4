import type { Metrics } from '../../lib/metrics.js'
import type { FollowState, FollowStatus } from '../../sync/follow/status.js'

const STATES: readonly FollowState[] = ['starting', 'syncing', 'following', 'stuck', 'alarm', 'failed']

/** Registers metrics of a server's upstreams. Labels are the redacted names of upstreams; metric names begin with
 *  `prefix`. */
export function registerFollowMetrics(
  metrics: Metrics,
  status: () => FollowStatus,
  prefix: 'cairn' | 'cairn_l2' = 'cairn',
): void {
  metrics.gauge(`${prefix}_follow_state`, '1 for the present state of following, 0 for the others.', () =>
    STATES.map((state) => [{ state }, Number(status().state === state)]),
  )
  metrics.gauge(
    `${prefix}_follow_stopped_seconds`,
    'Seconds for which following has been stuck, in alarm or failed, by the check that failed; 0 otherwise.',
    () => {
      const { stopped } = status()
      return stopped ? [[{ check: stopped.check }, stopped.seconds]] : 0
    },
  )
  metrics.gauge(
    `${prefix}_follow_stopped_block_number`,
    'The block that cannot be stored; absent while following is not stopped.',
    () => status().stopped?.block ?? undefined,
  )
  metrics.gauge(
    `${prefix}_upstream_head_block_number`,
    'Newest block of the upstreams.',
    () => status().upstreamBlock ?? undefined,
  )
  metrics.counter(`${prefix}_reorgs_total`, 'Reorgs since the start.', () => status().reorgs)
  metrics.counter(`${prefix}_reorg_removed_blocks_total`, 'Blocks that reorgs removed.', () => status().removedBlocks)
  const ofUpstreams = (read: (upstream: FollowStatus['upstreams'][number]) => number) => () =>
    status().upstreams.map((each): [{ upstream: string }, number] => [{ upstream: each.upstream }, read(each)])
  metrics.gauge(
    `${prefix}_upstream_up`,
    '1 while the upstream is asked, 0 while it fails or is quarantined.',
    ofUpstreams(({ state }) => Number(state === 'ok')),
  )
  metrics.gauge(
    `${prefix}_upstream_latency_seconds`,
    'Moving average of response times.',
    ofUpstreams(({ latencyMs }) => (latencyMs ?? 0) / 1000),
  )
  metrics.counter(
    `${prefix}_upstream_failures_total`,
    'Failed requests.',
    ofUpstreams(({ failures }) => failures),
  )
  metrics.counter(
    `${prefix}_upstream_invalid_responses_total`,
    'How often an upstream sent something that failed a check.',
    ofUpstreams(({ invalidResponses }) => invalidResponses),
  )
}
