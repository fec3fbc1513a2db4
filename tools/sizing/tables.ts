import { type Cost, type Costs, RUNS } from './costs.js'
import type { Forecast } from './forecast.js'
import { COUNTS, type Count, type CountName, type Network } from './networks.js'
import { between, type Range } from './range.js'

const UNITS = ['', 'thousand', 'million', 'billion']
const BYTES = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Formats the forecasts as lines of a Markdown table. */
export function formatForecasts(forecasts: readonly Forecast[]): string[] {
  return formatTable([
    ['network', '`--state`', 'disk', 'a day more', 'in a year', 'written a day', 'memory', 'days until the head'],
    ...forecasts.map((each) => [
      each.date === null ? each.network : `${each.network}, ${each.date}`,
      each.state === 'dump' ? 'sparse, from a dump' : each.state,
      formatBytes(each.diskBytes),
      formatBytes(each.diskBytesPerDay),
      formatBytes(each.diskBytesInYear),
      formatBytes(each.writtenBytesPerDay),
      formatBytes(each.memoryBytes),
      typeof each.daysToHead === 'string' ? each.daysToHead : formatDays(each.daysToHead),
    ]),
  ])
}

/** Formats what the networks have, with sources, as lines of a Markdown table. */
export function formatCounts(networks: readonly Network[]): string[] {
  return formatTable([
    ['network', 'figure', 'value', 'source'],
    ...networks.flatMap(({ name, counts }) =>
      (Object.entries(counts) as [CountName, Count][]).map(([count, { source, isEstimate, ...range }]) => [
        name,
        COUNTS[count],
        formatCount(range),
        isEstimate ? `estimate: ${source}` : source,
      ]),
    ),
  ])
}

/** Formats what the parts cost, with sources, as lines of a Markdown table and of a list of the runs. */
export function formatCosts(costs: Costs): string[] {
  const rows = Object.values<Cost>(costs).map(({ what, unit, source, ...range }) => [
    what,
    unit === 'bytes' ? formatBytes(range) : `${formatCount(range)} ${unit}`,
    source,
  ])
  const runs = Object.entries(RUNS).map(([name, run]) => `- **${name}**: ${run}`)
  return [...formatTable([['cost', 'value', 'measured by'], ...rows]), '', ...runs]
}

function formatTable([head, ...rows]: readonly (readonly string[])[]): string[] {
  const [first, ...others] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [first, `|${'---|'.repeat(head.length)}`, ...others]
}

/** Formats a number of bytes with two digits and a decimal unit, as `4.1 MB`, or `1.2 to 3.4 GB`. */
export function formatBytes(range: Range): string {
  return formatScaled(range, { units: BYTES, digits: 2 })
}

/** Formats a figure with four digits, from a million on with a word. */
function formatCount({ low, high }: Range): string {
  const format = (value: number) => {
    if (value < 1e6) return Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 3 })
    return formatScaled(between(value), { units: UNITS, digits: 4 })
  }
  const [from, to] = [format(low), format(high)]
  const unit = / [mb]illion$/.exec(to)?.[0] ?? ''
  return from === to ? to : `${unit !== '' && from.endsWith(unit) ? from.slice(0, -unit.length) : from} to ${to}`
}

/** Formats which of the networks Cairn cannot verify, as lines; none where it can verify all. */
export function formatNotes(networks: readonly Network[]): string[] {
  const names = networks.filter(({ isVerified }) => !isVerified).map(({ name }) => name)
  if (names.length === 0) return []
  return [`Cairn cannot verify blocks of ${names.join(' and ')} yet; the rows say what to expect by their figures.`]
}

/** Formats both ends, each with the unit in which it has at most three digits before the point. A unit that both have
 *  is written once. */
function formatScaled({ low, high }: Range, { units, digits }: { units: readonly string[]; digits: number }): string {
  const scale = (value: number) => {
    let power = 0
    while (Number((value / 1000 ** power).toPrecision(Math.max(3, digits))) >= 1000 && power < units.length - 1) power++
    return { figure: round(value / 1000 ** power, digits), unit: units[power] }
  }
  const [from, to] = [scale(low), scale(high)]
  const words = ({ figure, unit }: ReturnType<typeof scale>) => (unit === '' ? figure : `${figure} ${unit}`)
  if (low === 0 && high > 0) return `0 to ${words(to)}`
  if (from.unit !== to.unit) return `${words(from)} to ${words(to)}`
  return from.figure === to.figure ? words(to) : `${from.figure} to ${words(to)}`
}

function formatDays({ low, high }: Range): string {
  return formatScaled({ low, high }, { units: [''], digits: 2 })
}

/** Rounds to that many digits, and to whole numbers where they have more. */
function round(value: number, digits: number): string {
  const whole = Math.floor(Math.log10(Math.max(1, value))) + 1
  return String(Number(value.toPrecision(Math.max(digits, Math.min(3, whole)))))
}
