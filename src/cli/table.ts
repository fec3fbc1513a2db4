/** Formats rows of text in aligned columns, two spaces apart, without trailing spaces. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i])).join('  '))
  return lines.map((line) => line.trimEnd()).join('\n')
}

/** Formats Unix seconds as text, to the second, in UTC. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}
