import type { Metrics } from '../../lib/metrics.js'
import type { EngineFigures } from '../../sync/engine/engineFigures.js'

/** Registers metrics of what a consensus client sends. */
export function registerEngineMetrics(metrics: Metrics, figures: () => EngineFigures): void {
  metrics.counter('cairn_engine_payloads_total', 'Calls of engine_newPayload.', () => figures().newPayloads)
  metrics.counter(
    'cairn_engine_invalid_payloads_total',
    'Payloads answered with INVALID.',
    () => figures().invalidPayloads,
  )
  metrics.counter('cairn_engine_fork_choices_total', 'Calls of engine_forkchoiceUpdated.', () => figures().forkchoices)
  metrics.gauge(
    'cairn_engine_silence_seconds',
    'Time since the last call of the consensus client; absent before the first.',
    () => figures().lastRequestSeconds ?? undefined,
  )
  metrics.gauge('cairn_engine_kept_payloads', 'Payloads in memory that are not final.', () => figures().payloads)
  metrics.gauge('cairn_engine_kept_payload_bytes', 'Their encoded size.', () => figures().payloadBytes)
}
