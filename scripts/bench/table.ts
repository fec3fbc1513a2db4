import type { ShapeResult } from './measure.js'

const TOO_MANY = 10_000

/** Prints the shapes as a Markdown table, and below it those that are slower than they should be. */
export function printTable(shapes: readonly ShapeResult[]): void {
  console.log('| filter | results | p50 ms | p99 ms | max ms | ordinary p50 ms | ratio |')
  console.log('|---|---|---|---|---|---|---|')
  for (const { name, results, p50Ms, p99Ms, maxMs, ordinaryP50Ms } of shapes) {
    const shown = results > TOO_MANY ? 'error' : results.toLocaleString('en')
    const times = [p50Ms, p99Ms, maxMs, ordinaryP50Ms].map((ms) => (ms < 10 ? ms.toFixed(2) : ms.toFixed(0)))
    console.log(`| ${name} | ${shown} | ${times.join(' | ')} | ${formatRatio(ordinaryP50Ms / p50Ms)} |`)
  }
  for (const { name, selective, p99Ms, p50Ms, ordinaryP50Ms } of shapes) {
    if (selective && p99Ms > 10) console.log(`selective, yet p99 above 10 ms: ${name}`)
    if (p50Ms > ordinaryP50Ms) console.log(`slower than the ordinary design: ${name}`)
  }
}

function formatRatio(ratio: number): string {
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)
}
