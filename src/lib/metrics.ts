/** Distinguishes the samples of one family. Values come from a bounded set, never from a client. */
export type Labels = Readonly<Record<string, string>>

/** One number, or one number for each set of labels. Undefined while there is nothing to report. */
type Reading = number | Iterable<readonly [Labels, number]> | undefined

/** A family of counters (which only rise, and begin with the process) or gauges. */
export interface NumberFamily {
  readonly kind: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  /** @throws the error of a reader, as when the database cannot be read */
  samples(): (readonly [Labels, number])[]
}

/** A family of histograms. */
export interface HistogramFamily {
  readonly kind: 'histogram'
  readonly name: string
  readonly help: string
  histograms(): Iterable<readonly [Labels, Histogram]>
}

export type MetricFamily = NumberFamily | HistogramFamily

/** The metrics of a process. Each part of the program registers its own in one line, and keeps its figures as plain
 *  numbers, which are read on request. Names are Prometheus names with the unit at the end: `cairn_wal_bytes`,
 *  `cairn_evictions_total`. */
export interface Metrics {
  /** Registers a number that only rises. Several registrations under one name are one family; those with equal labels
   *  are added. */
  counter(name: string, help: string, read: () => Reading): void
  /** Registers a number that rises and falls. Several registrations under one name are one family; those with equal
   *  labels are added. */
  gauge(name: string, help: string, read: () => Reading): void
  /** Registers histograms. Several registrations under one name are one family; those with equal labels are added. */
  histogram(name: string, help: string, read: () => Iterable<readonly [Labels, Histogram]>): void
  /** All families, in the order in which they were registered. */
  families(): Iterable<MetricFamily>
  /** The sum of the samples of a counter or gauge that have these labels; undefined without samples. */
  value(name: string, labels?: Labels): number | undefined
}

/** Creates a registry without metrics. */
export function createMetrics(): Metrics {
  const families = new Map<string, MetricFamily>()
  const readers = new Map<string, (() => Reading)[]>()
  const histograms = new Map<string, (() => Iterable<readonly [Labels, Histogram]>)[]>()

  const register = (kind: NumberFamily['kind'], name: string, help: string, read: () => Reading) => {
    const own = readers.get(name)
    if (own !== undefined) return void own.push(read)
    const all = [read]
    readers.set(name, all)
    families.set(name, { kind, name, help, samples: () => addSamples(all) })
  }
  return {
    counter: (...metric) => register('counter', ...metric),
    gauge: (...metric) => register('gauge', ...metric),
    histogram(name, help, read) {
      const own = histograms.get(name)
      if (own !== undefined) return void own.push(read)
      const all = [read]
      histograms.set(name, all)
      families.set(name, { kind: 'histogram', name, help, histograms: () => addHistograms(all) })
    },
    families: () => families.values(),
    value(name, labels = {}) {
      const family = families.get(name)
      if (family === undefined || family.kind === 'histogram') return undefined
      const wanted = Object.entries(labels)
      const values = family
        .samples()
        .filter(([own]) => wanted.every(([label, value]) => own[label] === value))
        .map(([, value]) => value)
      return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
    },
  }
}

function samplesOf(reading: Reading): (readonly [Labels, number])[] {
  if (reading === undefined) return []
  return typeof reading === 'number' ? [[{}, reading]] : [...reading]
}

/** Samples of several readers; those with equal labels are added. */
function addSamples(readers: readonly (() => Reading)[]): (readonly [Labels, number])[] {
  if (readers.length === 1) return samplesOf(readers[0]())
  const sums = new Map<string, [Labels, number]>()
  for (const [labels, value] of readers.flatMap((read) => samplesOf(read()))) {
    const key = keyOfLabels(labels)
    sums.set(key, [labels, (sums.get(key)?.[1] ?? 0) + value])
  }
  return [...sums.values()]
}

function addHistograms(
  readers: readonly (() => Iterable<readonly [Labels, Histogram]>)[],
): Iterable<readonly [Labels, Histogram]> {
  if (readers.length === 1) return readers[0]()
  const sums = new Map<string, [Labels, Histogram]>()
  for (const [labels, histogram] of readers.flatMap((read) => [...read()])) {
    const key = keyOfLabels(labels)
    const known = sums.get(key)?.[1]
    if (known === undefined) sums.set(key, [labels, histogram])
    else sums.set(key, [labels, addTwo(known, histogram)])
  }
  return sums.values()
}

function addTwo(a: Histogram, b: Histogram): Histogram {
  const counts = a.counts.map((count, i) => count + b.counts[i])
  return readOnly({ bounds: a.bounds, counts, sum: a.sum() + b.sum() })
}

/** A histogram of figures that were observed elsewhere. */
function readOnly({
  bounds,
  counts,
  sum,
}: {
  bounds: readonly number[]
  counts: Float64Array
  sum: number
}): Histogram {
  return {
    bounds,
    counts,
    sum: () => sum,
    observe() {
      throw new Error('these figures are only read')
    },
  }
}

function keyOfLabels(labels: Labels): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}=${labels[name]}`)
    .join()
}

/** The figures of a registry at one time, as a message to another thread. */
export type MetricFigures = readonly (Pick<MetricFamily, 'kind' | 'name' | 'help'> & {
  readonly samples?: readonly (readonly [Labels, number])[]
  readonly histograms?: readonly { labels: Labels; bounds: readonly number[]; counts: Float64Array; sum: number }[]
})[]

/** Reads all families. @throws the error of a reader */
export function readFigures(metrics: Metrics): MetricFigures {
  return [...metrics.families()].map((family) => {
    const { kind, name, help } = family
    if (family.kind !== 'histogram') return { kind, name, help, samples: family.samples() }
    const histograms = [...family.histograms()].map(([labels, { bounds, counts, sum }]) => ({
      ...{ labels, bounds, counts, sum: sum() },
    }))
    return { kind, name, help, histograms }
  })
}

/** Adds the figures that `read` returns, those of other threads, to a registry. `figures` has their families. */
export function registerFigures(metrics: Metrics, figures: MetricFigures, read: (name: string) => MetricFigures): void {
  for (const { kind, name, help } of figures) {
    if (kind === 'histogram') metrics.histogram(name, help, () => read(name).flatMap(histogramsOf))
    else metrics[kind](name, help, () => read(name).flatMap(({ samples }) => samples ?? []))
  }
}

function histogramsOf({ histograms = [] }: MetricFigures[number]): [Labels, Histogram][] {
  return histograms.map(({ labels, ...figures }) => [labels, readOnly(figures)])
}

/** Registers the metrics that all caches have, labelled by `cache`. */
export function registerCacheMetrics(
  metrics: Metrics,
  cache: string,
  figures: { maxBytes: number; bytes(): number; entries(): number; hits(): number; misses(): number },
): void {
  const labelled = (read: () => number) => (): Reading => [[{ cache }, read()]]
  metrics.gauge('cairn_cache_entries', 'Entries of a cache.', labelled(figures.entries))
  metrics.gauge('cairn_cache_bytes', 'Memory that the entries of a cache take.', labelled(figures.bytes))
  metrics.gauge(
    'cairn_cache_limit_bytes',
    'Memory that a cache may take.',
    labelled(() => figures.maxBytes),
  )
  metrics.counter('cairn_cache_hits_total', 'Look-ups answered from a cache.', labelled(figures.hits))
  metrics.counter('cairn_cache_misses_total', 'Look-ups that a cache could not answer.', labelled(figures.misses))
}

/** Counts of observed values by size. */
export interface Histogram {
  /** Upper bounds of the buckets, ascending and inclusive. Larger values fall into one more bucket. */
  readonly bounds: readonly number[]
  /** How many values fell into each bucket, not cumulative; one longer than `bounds`. */
  readonly counts: Float64Array
  /** Sum of all values. */
  sum(): number
  /** Takes some nanoseconds. */
  observe(value: number): void
}

/** Creates an empty histogram. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    bounds,
    counts,
    sum: () => sum,
    observe(value) {
      let bucket = 0
      while (bucket < bounds.length && value > bounds[bucket]) bucket++
      counts[bucket]++
      sum += value
    },
  }
}
