import { useId, useMemo, useState } from 'preact/hooks'
import { formatCount } from '../format.js'
import {
  CHART_HEIGHT,
  CHART_WIDTH,
  type ChartColumns,
  firstColumns,
  formatTick,
  layOutChart,
  MAX_POINTS,
} from '../resultChart.js'

/** Space around the chart for the labels of its axes. */
const LEFT = 84
const BOTTOM = 34
const TOP = 12

/** A chart of a query's result, whose columns can be chosen. */
export function ResultChart(props: { rows: readonly { readonly [column: string]: unknown }[]; columns: ChartColumns }) {
  const { rows, columns } = props
  const [chosen, setChosen] = useState(() => firstColumns(columns))
  const layout = useMemo(() => layOutChart(rows, chosen), [rows, chosen])
  return (
    <figure class="card result-chart">
      <div class="inline-form">
        <ColumnChoice
          label="Horizontal"
          names={columns.x}
          value={chosen.x}
          onChange={(x) => setChosen((old) => ({ ...old, x }))}
        />
        <ColumnChoice
          label="Vertical"
          names={columns.y}
          value={chosen.y}
          onChange={(y) => setChosen((old) => ({ ...old, y }))}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="plot" tabIndex={0} aria-label="Chart">
        <svg
          viewBox={`${-LEFT} ${-TOP} ${CHART_WIDTH + LEFT + 20} ${CHART_HEIGHT + TOP + BOTTOM}`}
          role="img"
          aria-label={`Chart of ${chosen.y} by ${chosen.x}, ${formatCount(layout.marks.length)} rows`}
        >
          {layout.yTicks.map(({ y, value }) => (
            <g key={y}>
              <line class="grid" x1={0} x2={CHART_WIDTH} y1={y} y2={y} />
              <text class="tick end" x={-10} y={y + 5}>
                {formatTick(value)}
              </text>
            </g>
          ))}
          {layout.xTicks.map(({ x, text }) => (
            <text key={x} class="tick middle" x={x} y={CHART_HEIGHT + 24}>
              {text}
            </text>
          ))}
          {layout.shape === 'line' && <polyline class="line" points={layout.line} />}
          {layout.marks.map((mark, i) =>
            layout.shape === 'line' ? (
              <circle key={i} class="point" cx={mark.x} cy={pointOf(mark)} r={layout.marks.length > 60 ? 2 : 4}>
                <title>{mark.text}</title>
              </circle>
            ) : (
              <rect key={i} class="bar" x={mark.x} y={mark.y} width={mark.width} height={Math.max(mark.height, 0.5)}>
                <title>{mark.text}</title>
              </rect>
            ),
          )}
        </svg>
      </section>
      {rows.length > MAX_POINTS && <p class="quiet">The chart has the first {formatCount(MAX_POINTS)} rows.</p>}
    </figure>
  )
}

/** The end of a mark that is not on the axis: bars of negative values go down. */
function pointOf({ y, height, isNegative }: { y: number; height: number; isNegative: boolean }): number {
  return isNegative ? y + height : y
}

interface ColumnChoiceProps {
  label: string
  names: readonly string[]
  value: string
  onChange: (name: string) => void
}

function ColumnChoice({ label, names, value, onChange }: ColumnChoiceProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}
