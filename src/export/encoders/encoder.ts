import type { Column } from '../columns.js'
import { createCsvEncoder } from './csv.js'
import { createNdjsonEncoder } from './ndjson.js'
import type { Format, RowEncoder } from './rowEncoder.js'

/** Creates an encoder of files with these columns. */
export async function createEncoder(format: Format, columns: readonly Column[]): Promise<RowEncoder> {
  if (format === 'csv') return createCsvEncoder(columns)
  if (format === 'ndjson') return createNdjsonEncoder(columns)
  const { createParquetEncoder } = await import('./parquet.js')
  return createParquetEncoder(columns)
}
