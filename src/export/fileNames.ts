import type { Format } from './encoders/rowEncoder.js'

/** Blocks [from, to], both inclusive. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** What names the files of a dataset. */
export interface FileSeries {
  /** Name of the chain. */
  readonly network: string
  readonly dataset: string
  readonly format: Format
}

/** `ethereum__logs__23000000_to_23009999.parquet`, as cryo names its files. */
export function fileName({ network, dataset, format }: FileSeries, { from, to }: BlockRange): string {
  return `${network}__${dataset}__${label(from)}_to_${label(to)}.${format}`
}

/** True for the name of a file of the series. */
export function isOfSeries(series: FileSeries, name: string): boolean {
  const prefix = seriesPrefix(series)
  return name.startsWith(prefix) && SUFFIXES[series.format].test(name.slice(prefix.length))
}

/** What all names of the dataset's files begin with, in any format. */
export function seriesPrefix({ network, dataset }: Pick<FileSeries, 'network' | 'dataset'>): string {
  return `${network}__${dataset}__`
}

/** The temporary name of a file under way. No pattern for finished files matches it. */
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
