import type { Metrics } from '../../lib/metrics.js'
import type { SinkState, SinkStatus } from '../../sync/sinkStatus.js'

const STATES: readonly SinkState[] = ['following', 'catching up', 'retrying', 'alarm']

/** Registers metrics of a server's sink; `status` is undefined for a server without one. */
export function registerSinkMetrics(metrics: Metrics, status: () => SinkStatus | undefined): void {
  metrics.gauge('cairn_sink_state', '1 for the present state of the sink, 0 for the others.', () => {
    const now = status()?.state
    return now === undefined ? undefined : STATES.map((state) => [{ state }, Number(now === state)])
  })
  metrics.gauge(
    'cairn_sink_lag_blocks',
    'Blocks after the newest one whose delivery the receiver has acknowledged.',
    () => status()?.lagBlocks,
  )
  metrics.counter(
    'cairn_sink_deliveries_total',
    'Messages that the receiver of the sink has acknowledged.',
    () => status()?.deliveries,
  )
  metrics.counter(
    'cairn_sink_events_total',
    'Events that the receiver of the sink has acknowledged.',
    () => status()?.events,
  )
  metrics.counter(
    'cairn_sink_failures_total',
    'Attempts to deliver a message of the sink that failed.',
    () => status()?.failures,
  )
}
