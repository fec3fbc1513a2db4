/* Formats rows as text for files. Pure functions, without the browser. */

export const EXPORT_FORMATS = ['csv', 'ndjson', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

type Row = { readonly [column: string]: unknown }

/** Formats rows as text. CSV has the columns of the first row, and JSON for values that are not text. */
export function formatRows(rows: readonly Row[], format: ExportFormat): string {
  if (format === 'json') return `${JSON.stringify(rows, null, 1)}\n`
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const columns = Object.keys(rows[0] ?? {})
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))]
  return lines.map((line) => `${line.map(formatCell).join(',')}\r\n`).join('')
}

/** Formats a field by RFC 4180. Prefixes text that spreadsheets would run as a formula with an apostrophe. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
