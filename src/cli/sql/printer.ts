import type { Writable } from 'node:stream'
import { writeStream } from '../../lib/writeStream.js'
import { formatCell, formatRows, type RowFormat } from '../../sql/formats.js'
import type { ResultBatch } from './session.js'

/** Output format of `cairn sql`. */
export type SqlFormat = 'table' | RowFormat

/** Prints rows. */
export interface Printer {
  /** Prints rows as they arrive and returns their number. */
  print(batches: AsyncIterable<ResultBatch>, format: SqlFormat): Promise<number>
}

/** Creates a printer that respects backpressure and ends without an error when its reader closes the pipe. Its `print`
 *  throws OutputFailed when the output cannot be written. */
export function createPrinter(output: Writable): Printer {
  return {
    async print(batches, format) {
      let count = 0
      let widths: readonly number[] | undefined
      for await (const { columns, values } of batches) {
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
          text = formatRows(format, columns, { rows: values, header })
          widths ??= []
        }
        if (!(await writeStream(output, text))) break
        count += values.length
      }
      return count
    },
  }
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
