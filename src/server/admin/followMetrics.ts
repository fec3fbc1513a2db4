import type { Metrics } from '../../lib/metrics.js'
import type { FollowState, FollowStatus } from '../../sync/follow/status.js'
import type { FetchedCounts, StateFetchReason } from '../../sync/sparse/stateFigures.js'

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

const REASONS: readonly StateFetchReason[] = ['block', 'request']

/** Registers metrics of the state that a server with sparse state fetches. */
export function registerStateFetchMetrics(metrics: Metrics, status: () => FollowStatus): void {
  const ofReasons = (read: (counts: FetchedCounts) => number) => () => {
    const { stateFetches } = status()
    return (
      stateFetches && REASONS.map((reason): [{ reason: string }, number] => [{ reason }, read(stateFetches[reason])])
    )
  }
  metrics.counter(
    'cairn_state_fetches_total',
    'Fetches of state from the upstreams, for a block or for requests.',
    ofReasons(({ fetches }) => fetches),
  )
  metrics.counter(
    'cairn_state_fetched_accounts_total',
    'Accounts that were asked for.',
    ofReasons(({ accounts }) => accounts),
  )
  metrics.counter(
    'cairn_state_fetched_slots_total',
    'Slots that were asked for.',
    ofReasons(({ slots }) => slots),
  )
  metrics.counter(
    'cairn_state_fetched_bytes_total',
    'Bytes of trie nodes and codes that upstreams sent.',
    ofReasons(({ bytes }) => bytes),
  )
  metrics.counter(
    'cairn_state_fetch_refusals_total',
    'Requests whose state was not fetched.',
    () => status().stateFetches?.refused,
  )
  metrics.gauge(
    'cairn_state_fetch_waiting',
    'Requests that wait for state from the upstreams.',
    () => status().stateFetches?.waiting,
  )
}
