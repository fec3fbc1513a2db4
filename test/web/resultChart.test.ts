import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CHART_HEIGHT,
  CHART_WIDTH,
  chartColumns,
  firstColumns,
  layOutChart,
  MAX_POINTS,
} from '../../src/web/resultChart.js'

test('columns with numbers can be drawn, also those in decimal text', () => {
  const rows = [
    { name: 'a', count: 1, wei: '1000000000000000000000', hash: '0x12', hole: null },
    { name: 'b', count: 2, wei: '-5', hash: '0x13', hole: 4 },
  ]
  const columns = chartColumns(rows)!
  assert.deepEqual(columns.y, ['count', 'wei', 'hole'])
  assert.deepEqual(firstColumns(columns), { x: 'name', y: 'count' })
  assert.equal(chartColumns([{ name: 'a' }, { name: 'b' }]), undefined)
  assert.equal(chartColumns([{ count: 1 }]), undefined)
  assert.equal(chartColumns([]), undefined)
})

test('a rising column makes a line, any other bars, from zero and inside the box', () => {
  const line = layOutChart(
    Array.from({ length: 10 }, (_, i) => ({ block: i, gas: i * 3 })),
    { x: 'block', y: 'gas' },
  )
  assert.equal(line.shape, 'line')
  assert.match(line.line, /^0,300 .* 1000,0$/)
  const bars = layOutChart(
    [
      { n: 'a', v: 4 },
      { n: 'b', v: -4 },
      { n: 'c', v: null },
    ],
    { x: 'n', y: 'v' },
  )
  assert.equal(bars.shape, 'bars')
  assert.deepEqual(
    bars.marks.map(({ y, height, isNegative }) => [y, height, isNegative]),
    [
      [0, 150, false],
      [150, 150, true],
    ],
  )
  for (const { x, y, width, height } of [...line.marks, ...bars.marks]) {
    assert.ok(x >= 0 && x + width <= CHART_WIDTH && y >= 0 && y + height <= CHART_HEIGHT + 1e-9)
  }
})

test('many rows, equal values and long names keep the chart readable', () => {
  const rows = Array.from({ length: 2000 }, (_, i) => ({ n: `a long name of row ${i}`, v: 0 }))
  const { marks, xTicks } = layOutChart(rows, { x: 'n', y: 'v' })
  assert.equal(marks.length, MAX_POINTS)
  assert.ok(xTicks.length <= 8)
  assert.ok(xTicks.every(({ text }) => text.length <= 12))
  assert.ok(marks.every(({ y }) => Number.isFinite(y)))
})
