import type { Row } from '../columns.js'

/** File formats, which are also the extensions of their files. */
export const FORMATS = ['parquet', 'csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

/** Encodes the rows of one file. The bytes are the same for the same rows. */
export interface RowEncoder {
  /** Adds a row. Returns the bytes of the file that are ready, if any. */
  add(row: Row): Uint8Array | undefined
  /** Returns the rest of the file. Called once. */
  end(): Uint8Array
}
