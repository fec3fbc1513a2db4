import { TOO_MANY } from '../lib/client.js'
import { formatRatio, printTable } from '../lib/table.js'
import type { AnvilComparison } from './compareAnvil.js'
import type { ShapeResult } from './measure.js'

/** Prints the shapes as a Markdown table, and below it those that are slower than they should be. */
export function printShapes(shapes: readonly ShapeResult[]): void {
  const peers = [...new Set(shapes.flatMap((shape) => Object.keys(shape.peers)))]
  const heads = ['filter', 'results', 'p50 ms', 'p99 ms', 'max ms', 'ordinary p50 ms', 'ratio']
  printTable(
    [...heads, ...peers.map((name) => `${name} p50 ms`)],
    shapes.map(({ name, results, p50Ms, p99Ms, maxMs, ordinaryP50Ms, peers: times }) => {
      const shown = results === TOO_MANY ? 'error' : results.toLocaleString('en')
      const ratio = ordinaryP50Ms === null ? '' : formatRatio(ordinaryP50Ms / p50Ms)
      const own = [p50Ms, p99Ms, maxMs, ordinaryP50Ms].map(formatMs)
      return [name, shown, ...own, ratio, ...peers.map((peer) => formatMs(times[peer]))]
    }),
  )
  for (const { name, selective, p99Ms, p50Ms, ordinaryP50Ms } of shapes) {
    if (selective && p99Ms > 10) console.log(`selective, yet p99 above 10 ms: ${name}`)
    if (ordinaryP50Ms !== null && p50Ms > ordinaryP50Ms) console.log(`slower than the ordinary design: ${name}`)
  }
}

/** Prints the comparison with anvil as a Markdown table. */
export function printAnvil({ version, logs, shapes, leftOut }: AnvilComparison): void {
  console.log(`\n${version} and Cairn, both with ${logs.toLocaleString('en')} logs:`)
  printTable(
    ['filter', 'results', 'p50 ms', 'anvil p50 ms', 'ratio'],
    shapes.map(({ name, results, p50Ms, cairnP50Ms, ratio }) => {
      return [name, results.toLocaleString('en'), formatMs(cairnP50Ms), formatMs(p50Ms), formatRatio(ratio)]
    }),
  )
  for (const [name, reason] of Object.entries(leftOut)) console.log(`left out: ${name}: ${reason}`)
}

function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return ''
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0)
}
