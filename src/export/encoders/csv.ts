import { formatData } from '../../lib/hex.js'
import type { Cell, Column } from '../columns.js'
import type { RowEncoder } from './rowEncoder.js'
import { createTextEncoder } from './text.js'

/** Creates an encoder of CSV (RFC 4180, lines end with LF) with a header line. Null is empty, the empty string is
 *  quoted. */
export function createCsvEncoder(columns: readonly Column[]): RowEncoder {
  const header = `${columns.map(({ name }) => quote(name)).join(',')}\n`
  return createTextEncoder(header, (row) => `${row.map(formatCell).join(',')}\n`)
}

function formatCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'string') return quote(cell)
  return cell instanceof Uint8Array ? formatData(cell) : String(cell)
}

function quote(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
