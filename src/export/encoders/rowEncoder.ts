import type { Row } from '../columns.js'

/** File formats, which are also the extensions of their files. */
export const FORMATS = ['parquet', 'csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

/** Encodes the rows of one file. The bytes are the same for the same rows. */
export interface RowEncoder {
  /** Adds a row. Returns bytes of the file that are ready, if there are some. */
  add(row: Row): Uint8Array | undefined
  /** The rest of the file. Once. */
  end(): Uint8Array
}
