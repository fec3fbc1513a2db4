import { formatData } from '../lib/hex.js'
import type { SqlValue } from '../store/sql/runQuery.js'

/** Row formats for programs. */
export const ROW_FORMATS = ['ndjson', 'csv'] as const
export type RowFormat = (typeof ROW_FORMATS)[number]

/** Formats rows as lines; with `header`, starts with the column names if the format has a header. */
export function formatRows(
  format: RowFormat,
  columns: readonly string[],
  { rows, header }: { rows: readonly (readonly SqlValue[])[]; header: boolean },
): string {
  if (format === 'csv') return formatCsv(columns, rows, header)
  const names = columns.map((name) => JSON.stringify(name))
  return rows.map((row) => `{${row.map((value, i) => `${names[i]}:${formatJson(value)}`).join(',')}}\n`).join('')
}

/** Formats CSV by RFC 4180, lines end with LF; NULL is empty. */
function formatCsv(columns: readonly string[], rows: readonly (readonly SqlValue[])[], header: boolean): string {
  const lines = rows.map((row) => row.map((value) => quoteCsv(formatCell(value))))
  return (header ? [columns.map(quoteCsv), ...lines] : lines).map((cells) => `${cells.join(',')}\n`).join('')
}

function quoteCsv(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Formats a value as text: bytes as hex DATA, NULL as the empty string. */
export function formatCell(value: SqlValue): string {
  if (value === null) return ''
  return value instanceof Uint8Array ? formatData(value) : String(value)
}

/** Formats a value as JSON. Integers beyond 2^53 and numbers that JSON lacks are strings. */
function formatJson(value: SqlValue): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : `"${value}"`
  return JSON.stringify(typeof value === 'string' ? value : formatData(value))
}
