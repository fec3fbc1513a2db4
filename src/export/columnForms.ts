import { formatData } from '../lib/hex.js'
import type { Cell, Column } from './columns.js'
import type { Dataset } from './dataset.js'
import type { Format } from './encoders/rowEncoder.js'

/** How times are written: Unix seconds, or a timestamp of the file format. */
export const TIMESTAMP_FORMS = ['integer', 'timestamp'] as const

/** How columns are written. */
export interface ColumnForms {
  /** Binary columns as hex DATA in columns of text. CSV and NDJSON have that in any case. */
  readonly hex: boolean
  readonly timestamps: (typeof TIMESTAMP_FORMS)[number]
}

/** Returns the dataset with its columns in the wanted forms. With `timestamps`, a time is a timestamp in UTC in
 *  Parquet, and text in CSV and NDJSON: `2025-01-01T00:00:00Z`. Times after the year 9999 are its last second. */
export function withForms(dataset: Dataset, { hex, timestamps }: ColumnForms, format: Format): Dataset {
  const isText = format !== 'parquet'
  const changes: { readonly at: number; readonly column: Column; convert(cell: Cell): Cell }[] = []
  for (const [at, column] of dataset.columns.entries()) {
    if (column.type === 'binary' && hex && !isText) {
      changes.push({ at, column: { ...column, type: 'string' }, convert: toHex })
    } else if (TIMES.has(column.name) && timestamps === 'timestamp') {
      const form: Partial<Column> = isText ? { type: 'string' } : { type: 'i64', isTimestamp: true }
      changes.push({ at, column: { ...column, ...form }, convert: isText ? toTimeText : toMilliseconds })
    }
  }
  if (changes.length === 0) return dataset
  const columns = dataset.columns.map((column, at) => changes.find((change) => change.at === at)?.column ?? column)
  return {
    ...dataset,
    columns,
    *rows(source, blocks) {
      for (const row of dataset.rows(source, blocks)) {
        const cells = [...row]
        for (const { at, convert } of changes) if (cells[at] !== null) cells[at] = convert(cells[at])
        yield cells
      }
    },
  }
}

/** Columns of Unix seconds. */
const TIMES = new Set(['timestamp', 'block_timestamp'])

const LAST_SECOND = 253_402_300_799 // 9999-12-31T23:59:59Z

function toHex(cell: Cell): Cell {
  return formatData(cell as Uint8Array)
}

function toMilliseconds(cell: Cell): Cell {
  return BigInt(Math.min(Number(cell), LAST_SECOND)) * 1_000n
}

function toTimeText(cell: Cell): Cell {
  return new Date(Math.min(Number(cell), LAST_SECOND) * 1_000).toISOString().replace('.000Z', 'Z')
}
