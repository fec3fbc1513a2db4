import { TOO_MANY } from './client.js'
import type { AnvilComparison } from './compareAnvil.js'
import type { ShapeResult } from './measure.js'

/** Prints the shapes as a Markdown table, and below it those that are slower than they should be. */
export function printTable(shapes: readonly ShapeResult[]): void {
  if (shapes.length === 0) return
  const peers = [...new Set(shapes.flatMap((shape) => Object.keys(shape.peers)))]
  const heads = ['filter', 'results', 'p50 ms', 'p99 ms', 'max ms', 'ordinary p50 ms', 'ratio']
  printRow([...heads, ...peers.map((name) => `${name} p50 ms`)])
  printRow([...heads, ...peers].map(() => '---'))
  for (const { name, results, p50Ms, p99Ms, maxMs, ordinaryP50Ms, peers: times } of shapes) {
    const shown = results === TOO_MANY ? 'error' : results.toLocaleString('en')
    const ratio = ordinaryP50Ms === null ? '' : formatRatio(ordinaryP50Ms / p50Ms)
    const own = [p50Ms, p99Ms, maxMs, ordinaryP50Ms].map(formatMs)
    printRow([name, shown, ...own, ratio, ...peers.map((peer) => formatMs(times[peer]))])
  }
  for (const { name, selective, p99Ms, p50Ms, ordinaryP50Ms } of shapes) {
    if (selective && p99Ms > 10) console.log(`selective, yet p99 above 10 ms: ${name}`)
    if (ordinaryP50Ms !== null && p50Ms > ordinaryP50Ms) console.log(`slower than the ordinary design: ${name}`)
  }
}

/** Prints the comparison with anvil as a Markdown table. */
export function printAnvil({ version, logs, shapes, leftOut }: AnvilComparison): void {
  console.log(`\n${version} and Cairn, both with ${logs.toLocaleString('en')} logs:`)
  printRow(['filter', 'results', 'p50 ms', 'anvil p50 ms', 'ratio'])
  printRow(Array.from({ length: 5 }, () => '---'))
  for (const { name, results, p50Ms, cairnP50Ms, ratio } of shapes) {
    printRow([name, results.toLocaleString('en'), formatMs(cairnP50Ms), formatMs(p50Ms), formatRatio(ratio)])
  }
  for (const [name, reason] of Object.entries(leftOut)) console.log(`left out: ${name}: ${reason}`)
}

/** Prints all else that a report has: a line per figure, named by where it is in the JSON. Lists are left out: they have
 *  tables of their own. */
export function printFigures({ shapes: _, ...report }: { shapes?: unknown }): void {
  const print = (name: string, value: unknown) => {
    if (Array.isArray(value) || name.endsWith('leftOut')) return
    if (value === null || typeof value !== 'object') console.log(`${name}: ${round(value)}`)
    else for (const [key, member] of Object.entries(value)) print(name === '' ? key : `${name}.${key}`, member)
  }
  print('', report)
}

/** A number with three decimals below 1,000 and none above; any other value as it is. */
export function round(value: unknown): unknown {
  if (typeof value !== 'number') return value
  return value >= 1000 ? Math.round(value) : Math.round(value * 1000) / 1000
}

/** Prints a row of a Markdown table. */
export function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return ''
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0)
}

function formatRatio(ratio: number): string {
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)
}
