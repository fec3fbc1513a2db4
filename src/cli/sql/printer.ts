import type { Writable } from 'node:stream'
import { writeStream } from '../../lib/writeStream.js'
import { formatCell, formatRows, ROW_FORMATS } from '../../sql/formats.js'
import type { EngineName } from '../../sql/protocol.js'
import type { SqlValue } from '../../store/sql/runQuery.js'
import type { ResultBatch } from './session.js'

/** Output formats of `cairn sql`: `json` is one array of objects, of rows as in `ndjson`. */
export const SQL_FORMATS = ['table', 'json', ...ROW_FORMATS] as const
export type SqlFormat = (typeof SQL_FORMATS)[number]

/** What was printed. */
export interface Printed {
  /** `3 rows in 0.012 s`, and `by DuckDB` if it answered. */
  readonly summary: string
  readonly engine: EngineName | undefined
}

/** Prints rows. */
export interface Printer {
  /** Prints rows as they arrive. Returns their number, the time, and the engine if it is not SQLite, as text. */
  print(batches: AsyncIterable<ResultBatch>, format: SqlFormat): Promise<Printed>
}

/** Creates a printer that respects backpressure and ends without an error when its reader closes the pipe. Its `print`
 *  throws OutputFailed when the output cannot be written. */
export function createPrinter(output: Writable): Printer {
  return {
    async print(batches, format) {
      const begin = performance.now()
      let count = 0
      let engine: EngineName | undefined
      let widths: readonly number[] | undefined
      for await (const { columns, values, engine: answered } of batches) {
        engine = answered
        const header = count === 0 && widths === undefined
        let text: string
        if (format === 'table') {
          const cells = values.map((row) =>
            row.map((value) => (value === null ? '-' : escapeControls(formatCell(value)))),
          )
          const wanted = header ? [columns, ...cells] : cells
          widths = columns.map((_, i) => Math.max(widths?.[i] ?? 0, ...wanted.map((row) => row[i].length)))
          const lines = (header ? [columns, widths.map((width) => '-'.repeat(width))] : []).concat(cells)
          text = lines.map((row) => formatLine(row, widths!)).join('')
        } else {
          text =
            format === 'json'
              ? formatArray(columns, values, count)
              : formatRows(format, columns, { rows: values, header })
          widths ??= []
        }
        if (!(await writeStream(output, text))) break
        count += values.length
      }
      if (format === 'json') await writeStream(output, count === 0 ? '[]\n' : '\n]\n')
      const seconds = ((performance.now() - begin) / 1000).toFixed(3)
      const by = engine === 'DuckDB' ? ' by DuckDB' : ''
      return { summary: `${count} ${count === 1 ? 'row' : 'rows'} in ${seconds} s${by}`, engine }
    },
  }
}

/** Rows of an array of which `before` were printed already; its end is missing. */
function formatArray(columns: readonly string[], rows: readonly (readonly SqlValue[])[], before: number): string {
  const lines = formatRows('ndjson', columns, { rows, header: false }).trimEnd().split('\n')
  return rows.length === 0 ? '' : `${before === 0 ? '[\n' : ',\n'}${lines.join(',\n')}`
}

function formatLine(cells: readonly string[], widths: readonly number[]): string {
  return `${cells
    .map((cell, i) => cell.padEnd(widths[i]))
    .join('  ')
    .trimEnd()}\n`
}

/** Escapes control characters, so that on-chain text cannot control the terminal. */
function escapeControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
