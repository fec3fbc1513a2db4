import type { BlockRange } from '../chain/eth/types.js'
import type { Format } from './encoders/rowEncoder.js'

/** Parts of the file names of a dataset. */
export interface FileSeries {
  /** Name of the chain. */
  readonly network: string
  readonly dataset: string
  readonly format: Format
}

/** Returns a file name in cryo's scheme: `ethereum__logs__23000000_to_23009999.parquet`. */
export function fileName({ network, dataset, format }: FileSeries, { from, to }: BlockRange): string {
  return `${network}__${dataset}__${label(from)}_to_${label(to)}.${format}`
}

/** Returns true for the name of a file of the series. */
export function isOfSeries(series: FileSeries, name: string): boolean {
  const prefix = seriesPrefix(series)
  return name.startsWith(prefix) && SUFFIXES[series.format].test(name.slice(prefix.length))
}

/** Returns the common prefix of the dataset's file names in all formats. */
export function seriesPrefix({ network, dataset }: Pick<FileSeries, 'network' | 'dataset'>): string {
  return `${network}__${dataset}__`
}

/** Returns the temporary name of an unfinished file. No pattern for finished files matches it. */
export function temporaryName(name: string): string {
  return `${name}.tmp`
}

const SUFFIXES: { readonly [K in Format]: RegExp } = {
  parquet: /^\d{8,}_to_\d{8,}\.parquet$/,
  csv: /^\d{8,}_to_\d{8,}\.csv$/,
  ndjson: /^\d{8,}_to_\d{8,}\.ndjson$/,
}

function label(blockNumber: number): string {
  return String(blockNumber).padStart(8, '0')
}
