import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { HistogramFamily, MetricFamily, Metrics, NumberFamily } from '../../lib/metrics.js'

/** Renders the metrics of the process as text. */
export interface MetricsPage {
  readonly contentType: string
  /** The page in the Prometheus text format 0.0.4. A family that cannot be read (the database is gone) has no samples
   *  and is counted in `cairn_metrics_read_failures_total`. */
  render(): Promise<string>
}

/** A page is reused for this many times the time it took to render, so a client that polls constantly takes at most a
 *  twentieth of the main thread. */
const REUSE_FACTOR = 20

/** A page with the metrics of the registry and the Node.js metrics of prom-client: event-loop delay, garbage
 *  collection, memory, CPU time. `refresh` collects the metrics of other threads first. */
export function createMetricsPage(metrics: Metrics, refresh?: () => Promise<void> | undefined): MetricsPage {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  let failures = 0
  metrics.counter('cairn_metrics_read_failures_total', 'Metrics that could not be read.', () => failures)
  const read = (family: MetricFamily) => {
    try {
      return family.kind === 'histogram' ? histogramValues(family) : numberValues(family)
    } catch {
      failures++
      return []
    }
  }
  const registered = new Set<MetricFamily>()
  const make = async () => {
    await refresh?.()
    for (const family of metrics.families()) {
      if (registered.has(family)) continue
      registered.add(family)
      const { kind, name, help } = family
      const get = async () => ({ name, help, type: kind, aggregator: 'sum', values: read(family) })
      // The registry uses only these two members of a metric.
      registry.registerMetric({ name, get } as unknown as Metric)
    }
    return registry.metrics()
  }
  let page: Promise<string> | undefined
  let expiresMs = 0
  return {
    contentType: registry.contentType,
    render() {
      const begunMs = performance.now()
      if (page !== undefined && begunMs < expiresMs) return page
      expiresMs = Number.POSITIVE_INFINITY
      page = make().finally(() => {
        const nowMs = performance.now()
        expiresMs = nowMs + (nowMs - begunMs) * REUSE_FACTOR
      })
      return page
    },
  }
}

/** A sample in the form of prom-client. */
interface Value {
  readonly metricName?: string
  readonly labels: { readonly [label: string]: string | number }
  readonly value: number
}

function numberValues(family: NumberFamily): Value[] {
  return family.samples().map(([labels, value]) => ({ labels, value }))
}

/** The cumulative buckets, sum and count of each histogram. */
function histogramValues({ name, histograms }: HistogramFamily): Value[] {
  const values: Value[] = []
  for (const [labels, { bounds, counts, sum }] of histograms()) {
    let count = 0
    counts.forEach((own, i) => {
      count += own
      const le = i < bounds.length ? bounds[i] : '+Inf'
      values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count })
    })
    values.push({ metricName: `${name}_sum`, labels, value: sum() })
    values.push({ metricName: `${name}_count`, labels, value: count })
  }
  return values
}
