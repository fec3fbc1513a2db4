import type { FollowState, FollowStatus } from '../../ingest/follow/status.js'
import type { Metrics } from '../../lib/metrics.js'

const STATES: readonly FollowState[] = ['starting', 'syncing', 'following', 'alarm', 'failed']

/** Registers how a server follows its upstreams. Labels are the redacted names of upstreams. */
export function registerFollowMetrics(metrics: Metrics, status: () => FollowStatus): void {
  metrics.gauge('cairn_follow_state', '1 for the present state of following, 0 for the others.', () =>
    STATES.map((state) => [{ state }, Number(status().state === state)]),
  )
  metrics.gauge(
    'cairn_upstream_head_block_number',
    'Newest block of the upstreams.',
    () => status().upstreamBlock ?? undefined,
  )
  metrics.counter('cairn_reorgs_total', 'Reorgs since the start.', () => status().reorgs)
  metrics.counter('cairn_reorg_removed_blocks_total', 'Blocks that reorgs removed.', () => status().removedBlocks)
  const ofUpstreams = (read: (upstream: FollowStatus['upstreams'][number]) => number) => () =>
    status().upstreams.map((each): [{ upstream: string }, number] => [{ upstream: each.upstream }, read(each)])
  metrics.gauge(
    'cairn_upstream_up',
    '1 while the upstream is asked, 0 while it fails or is put aside.',
    ofUpstreams(({ state }) => Number(state === 'ok')),
  )
  metrics.gauge(
    'cairn_upstream_latency_seconds',
    'Moving average of response times.',
    ofUpstreams(({ latencyMs }) => (latencyMs ?? 0) / 1000),
  )
  metrics.counter(
    'cairn_upstream_failures_total',
    'Failed requests.',
    ofUpstreams(({ failures }) => failures),
  )
  metrics.counter(
    'cairn_upstream_lies_total',
    'How often an upstream sent something that failed a check.',
    ofUpstreams(({ lies }) => lies),
  )
}
