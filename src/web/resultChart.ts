/* Layout of the chart of a query's result. Pure functions, without the browser. */

type Row = { readonly [column: string]: unknown }

/** Rows that a chart shows at most. */
export const MAX_POINTS = 500

/** What a chart may show: columns for the horizontal axis, and those with numbers for the vertical one. */
export interface ChartColumns {
  readonly x: readonly string[]
  readonly y: readonly string[]
}

/** Returns the columns of a chart; undefined if no column has numbers. */
export function chartColumns(rows: readonly Row[]): ChartColumns | undefined {
  const columns = Object.keys(rows[0] ?? {})
  const y = columns.filter((name) => rows.some((row) => numberOf(row[name]) !== undefined) && isNumeric(rows, name))
  return y.length === 0 || rows.length < 2 ? undefined : { x: columns, y }
}

/** Returns the columns that a chart shows at first: the first one, and the first other one with numbers. */
export function firstColumns({ x, y }: ChartColumns): { x: string; y: string } {
  return { x: x[0], y: y.find((name) => name !== x[0]) ?? y[0] }
}

function isNumeric(rows: readonly Row[], name: string): boolean {
  return rows.every((row) => row[name] === null || numberOf(row[name]) !== undefined)
}

/** Converts a number, or one in decimal text. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined
}

/** A chart in a box of 1000 by 300 units. */
export interface ChartLayout {
  readonly shape: 'bars' | 'line'
  readonly marks: readonly Mark[]
  /** Points of the line, `x,y x,y`; empty for bars. */
  readonly line: string
  readonly yTicks: readonly { readonly y: number; readonly value: number }[]
  readonly xTicks: readonly { readonly x: number; readonly text: string }[]
}

/** A row of the result: its bar, or its point of the line, and what it says. */
interface Mark {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly isNegative: boolean
  readonly text: string
}

export const CHART_WIDTH = 1000
export const CHART_HEIGHT = 300
const MAX_LABELS = 8

/** Lays out the first rows: a line if both columns have numbers and x rises, else a bar for each row. */
export function layOutChart(rows: readonly Row[], columns: { x: string; y: string }): ChartLayout {
  const points = rows.slice(0, MAX_POINTS).flatMap((row) => {
    const value = numberOf(row[columns.y])
    return value === undefined ? [] : [{ label: labelOf(row[columns.x]), at: numberOf(row[columns.x]), value }]
  })
  const isLine =
    points.length > 2 && points.every(({ at }, i) => at !== undefined && (i === 0 || at > points[i - 1].at!))
  const [low, high] = scaleOf(points.map(({ value }) => value))
  const yOf = (value: number) => CHART_HEIGHT - ((value - low) / (high - low)) * CHART_HEIGHT
  const [first, last] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 1]
  const slot = CHART_WIDTH / Math.max(1, points.length)
  const xOf = (i: number) => (isLine ? ((points[i].at! - first) / (last - first)) * CHART_WIDTH : (i + 0.5) * slot)
  const base = yOf(Math.max(low, Math.min(0, high)))
  const marks = points.map(({ label, value }, i) => {
    const [width, y] = [isLine ? 0 : slot * 0.7, yOf(value)]
    return {
      x: xOf(i) - width / 2,
      y: Math.min(y, base),
      width,
      height: Math.abs(base - y),
      isNegative: value < 0,
      text: `${label}: ${formatTick(value)}`,
    }
  })
  const step = Math.max(1, Math.ceil(points.length / MAX_LABELS))
  return {
    shape: isLine ? 'line' : 'bars',
    marks,
    line: isLine ? points.map(({ value }, i) => `${round(xOf(i))},${round(yOf(value))}`).join(' ') : '',
    yTicks: [0, 1, 2, 3, 4].map((i) => {
      const value = low + ((high - low) * i) / 4
      return { value, y: yOf(value) }
    }),
    xTicks: points.flatMap(({ label }, i) => (i % step === 0 ? [{ x: xOf(i), text: label }] : [])),
  }
}

/** Bounds of the vertical axis: with zero, and never empty. */
function scaleOf(values: readonly number[]): [number, number] {
  const low = Math.min(0, ...values)
  const high = Math.max(0, ...values)
  return low === high ? [0, 1] : [low, high]
}

function labelOf(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null ? 'null' : JSON.stringify(value)
  return text.length > 12 ? `${text.slice(0, 11)}…` : text
}

/** Formats a number for an axis: `1.5M`, `2e+21`. */
export function formatTick(value: number): string {
  if (Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-4)) return value.toExponential(2)
  return new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
