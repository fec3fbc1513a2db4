import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useStore } from '../client/store.js'
import { themeTurn } from './theme.js'

const AXIS_FONT = '11px system-ui, sans-serif'

interface ChartProps {
  /** Label for screen readers: what the chart shows, with the newest value. */
  label: string
  x: readonly number[]
  y: readonly (number | null)[]
  shape: 'bars' | 'line' | 'steps'
  /** True if `x` is Unix seconds. */
  isTime?: boolean
  formatX?: (value: number) => string
  formatY: (value: number) => string
  /** Minimum of the top of the scale. */
  least?: number
  height?: number
}

/** A chart of one series, in the colours of the theme. */
export function Chart(props: ChartProps) {
  const { label, x, y, height = 150 } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const turn = useStore(themeTurn)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const size = () => ({ width: Math.max(120, element.clientWidth), height })
    const own = new uPlot({ ...size(), ...optionsOf(props, getComputedStyle(element)) }, [[...x], [...y]], element)
    plot.current = own
    const observer = new ResizeObserver(() => own.setSize(size()))
    observer.observe(element)
    return () => {
      observer.disconnect()
      own.destroy()
    }
  }, [turn, height, props.shape])
  useEffect(() => plot.current?.setData([[...x], [...y]]), [x, y])
  return <div ref={place} class="chart" role="img" aria-label={label} />
}

function optionsOf(
  { shape, isTime, formatX, formatY, least }: ChartProps,
  style: CSSStyleDeclaration,
): Omit<uPlot.Options, 'width' | 'height'> {
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: colour('--quiet'), font: AXIS_FONT, ticks: { show: false } }
  const xText = isTime ? clockTime : (formatX ?? String)
  const paths =
    shape === 'bars'
      ? uPlot.paths.bars?.({ size: [0.7, 40] })
      : shape === 'steps'
        ? uPlot.paths.stepped?.({ align: 1 })
        : uPlot.paths.linear?.()
  return {
    legend: { show: false },
    padding: [8, 12, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: {
        time: false,
        range: (_, min, max) => (isTime ? lastMinute(min, max) : widen(min, max, shape === 'bars' ? 0.5 : 0)),
      },
      y: {
        range: (_, min, max) =>
          shape === 'steps' ? around(min, max) : [0, Math.max(least ?? 0, (max ?? 0) * 1.1) || 1],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 26,
        values: (_, values) => values.map((value) => (Number.isInteger(value) ? xText(value) : '')),
      },
      {
        ...axis,
        size: labelWidth,
        space: 34,
        grid: { stroke: colour('--line'), width: 1 },
        values: (_, values) => values.map(formatY),
      },
    ],
    series: [
      {},
      {
        stroke: colour('--accent'),
        fill: shape === 'bars' ? colour('--accent') : colour('--accent-soft'),
        width: shape === 'bars' ? 0 : 1.5,
        points: { show: shape === 'line', size: 5, fill: colour('--accent'), stroke: colour('--accent') },
        paths,
      },
    ],
    hooks: { setCursor: [(own) => showTooltip(own, xText, formatY)] },
  }
}

/** Returns the width of the longest label plus the gap to the chart. */
function labelWidth(plot: uPlot, labels: readonly string[] | null, axis: number): number {
  const { font } = plot.axes[axis] as { font?: string | [string, ...unknown[]] }
  plot.ctx.save()
  plot.ctx.font = Array.isArray(font) ? font[0] : (font ?? AXIS_FONT)
  const widths = (labels ?? []).map((label) => plot.ctx.measureText(label).width)
  plot.ctx.restore()
  return Math.max(48, Math.ceil(Math.max(0, ...widths) / devicePixelRatio) + 16)
}

function widen(min: number | null, max: number | null, by: number): [number, number] {
  const [low, high] = [min ?? 0, max ?? 1]
  return low === high ? [low - 1, high + 1] : [low - by, high + by]
}

/** Returns a range of at least the last minute, so that the first values do not fill the chart. Without data, uPlot
 *  passes bounds of its own. */
function lastMinute(min: number | null, max: number | null): [number, number] {
  const isReal = min !== null && max !== null && min > YEAR_2000
  const end = isReal ? max : Date.now() / 1000
  return [Math.min(isReal ? min : end, end - 60), end]
}

const YEAR_2000 = 946_684_800

/** Returns the range of the values with some margin, so that small changes of large values are visible. */
function around(min: number | null, max: number | null): [number, number] {
  const [low, high] = [min ?? 0, max ?? 1]
  const room = (high - low) * 0.15 || high * 0.1 || 1
  return [Math.max(0, low - room), high + room]
}

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB')
}

/** Shows the value under the pointer at the top of the chart. */
function showTooltip(plot: uPlot, formatX: (value: number) => string, formatY: (value: number) => string): void {
  let tip = plot.over.querySelector<HTMLElement>('.tip')
  if (tip === null) {
    tip = document.createElement('div')
    tip.className = 'tip'
    plot.over.append(tip)
  }
  const at = plot.cursor.idx
  const value = at == null ? undefined : plot.data[1][at]
  tip.hidden = at == null || value == null
  if (at == null || value == null) return
  const x = plot.data[0][at]
  tip.textContent = `${formatX(x)}: ${formatY(value)}`
}
