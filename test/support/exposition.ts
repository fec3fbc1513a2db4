import assert from 'node:assert/strict'

/** One line of a page of metrics. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A page of metrics in the Prometheus text format. */
export interface Exposition {
  readonly samples: readonly Sample[]
  /** By family. */
  readonly types: ReadonlyMap<string, string>
  /** The sum of the samples with these labels; undefined when there are none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/
// prom-client writes NaN as `Nan`, which Prometheus, reading numbers as Go does, takes as well.
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (Na[Nn]|[+-]Inf|-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)$`)
const TYPES = ['counter', 'gauge', 'histogram', 'summary']
const SUFFIXES: { [type: string]: RegExp } = { histogram: /_(bucket|sum|count)$/, summary: /_(sum|count)$/ }

/** Reads a page strictly: every line is a HELP, a TYPE right after it, or a sample of that family; no family and no
 *  sample comes twice; counters end in `_total` or are those of prom-client; histograms are cumulative and end with
 *  `+Inf`.
 *  @throws AssertionError naming the line */
export function parseExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the last line ends')
  const types = new Map<string, string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  let helped: string | undefined
  let family: string | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue
    const [, keyword, name, rest] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line) ?? []
    if (keyword === 'HELP') {
      assert.ok(!types.has(name), `a second family of this name: ${line}`)
      helped = name
    } else if (keyword === 'TYPE') {
      assert.ok(name === helped && TYPES.includes(rest), line)
      types.set(name, rest)
      family = name
    } else {
      const sample = parseSample(line)
      assert.ok(
        family !== undefined && isOfFamily(sample.name, family, types.get(family)!),
        `not of ${family}: ${line}`,
      )
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      assert.ok(!seen.has(key), `a second sample: ${line}`)
      seen.add(key)
      samples.push(sample)
    }
  }
  checkHistograms(samples, types)
  return {
    samples,
    types,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
    },
  }
}

function parseSample(line: string): Sample {
  const [, name, labelText, value] = SAMPLE.exec(line) ?? []
  assert.ok(name !== undefined, `no sample: ${line}`)
  const labels: Record<string, string> = {}
  for (let rest = labelText ?? ''; rest !== ''; ) {
    const match = LABEL.exec(rest)
    assert.ok(match !== null && !(match[1] in labels), `labels: ${line}`)
    labels[match[1]] = match[2]
    rest = rest.slice(match[0].length)
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function isOfFamily(name: string, family: string, type: string): boolean {
  const suffix = SUFFIXES[type]
  if (name === family) return type !== 'histogram'
  return suffix !== undefined && name.replace(suffix, '') === family
}

function checkHistograms(samples: readonly Sample[], types: ReadonlyMap<string, string>): void {
  for (const [family, type] of types) {
    if (type !== 'histogram') continue
    const series = new Map<string, Sample[]>()
    for (const sample of samples) {
      if (sample.name !== `${family}_bucket`) continue
      const { le, ...labels } = sample.labels
      assert.ok(le !== undefined, `${family}: a bucket without le`)
      const key = JSON.stringify(labels)
      series.set(key, [...(series.get(key) ?? []), sample])
    }
    for (const [key, buckets] of series) {
      const bounds = buckets.map(({ labels }) => Number(labels.le.replace('Inf', 'Infinity')))
      assert.deepEqual(
        bounds,
        [...new Set(bounds)].sort((a, b) => a - b),
        `${family}${key}: bounds ascend`,
      )
      assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY, `${family}${key}: ends with +Inf`)
      const counts = buckets.map(({ value }) => value)
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => a - b),
        `${family}${key}: is cumulative`,
      )
      const total = samples.find(({ name, labels }) => name === `${family}_count` && JSON.stringify(labels) === key)
      assert.equal(total?.value, counts.at(-1), `${family}${key}: the count is that of +Inf`)
    }
  }
}
