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

/** True for the name of a file of the series, or of a temporary one. */
export function isOfSeries({ network, dataset, format }: FileSeries, name: string): boolean {
  const prefix = `${network}__${dataset}__`
  return name.startsWith(prefix) && SUFFIXES[format].test(name.slice(prefix.length))
}

/** The temporary name of a file under way. No pattern for finished files matches it. */
export function temporaryName(name: string): string {
  return `${name}.tmp`
}

const SUFFIXES: { readonly [K in Format]: RegExp } = {
  parquet: /^\d{8,}_to_\d{8,}\.parquet(\.tmp)?$/,
  csv: /^\d{8,}_to_\d{8,}\.csv(\.tmp)?$/,
  ndjson: /^\d{8,}_to_\d{8,}\.ndjson(\.tmp)?$/,
}

function label(blockNumber: number): string {
  return String(blockNumber).padStart(8, '0')
}
