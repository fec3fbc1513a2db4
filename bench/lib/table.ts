/** Prints a Markdown table. Numbers are rounded, undefined is an empty cell. */
export function printTable(
  heads: readonly string[],
  rows: readonly (readonly (string | number | undefined)[])[],
): void {
  for (const row of [heads, heads.map(() => '---'), ...rows]) printRow(row.map((cell) => String(round(cell ?? ''))))
}

/** Prints a row of a Markdown table. */
export function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

/** A number with three decimals below 1,000 and none above; any other value as it is. */
export function round(value: unknown): unknown {
  if (typeof value !== 'number') return value
  return value >= 1000 ? Math.round(value) : Math.round(value * 1000) / 1000
}

/** Formats how many times as fast something is: with two decimals below 10, none above. */
export function formatRatio(ratio: number): string {
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)
}
