import { readFileSync } from 'node:fs'
import { decompress, init } from '@bokuweb/zstd-wasm'
import { type AsyncBuffer, parquetMetadata, parquetReadObjects } from 'hyparquet'

/** A row by column, as text: bytes as hex DATA, numbers as JavaScript writes them; null stays. */
export type TextRow = { [column: string]: string | null }

/** The rows of an exported file, by its ending. */
export async function readExported(path: string): Promise<TextRow[]> {
  if (path.endsWith('.parquet')) return readParquet(path)
  const text = readFileSync(path, 'utf8')
  return path.endsWith('.csv') ? readCsv(text) : readNdjson(text)
}

/** The rows of NDJSON. */
export function readNdjson(text: string): TextRow[] {
  return splitLines(text).map((line) => toTextRow(JSON.parse(line) as { [column: string]: unknown }))
}

/** The rows of CSV without quoted line ends. */
export function readCsv(text: string): TextRow[] {
  const [header, ...lines] = splitLines(text).map(splitCsv)
  return lines.map((cells) => Object.fromEntries(header.map((name, i) => [name!, cells[i]])))
}

function splitCsv(line: string): (string | null)[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain || null : quoted.replaceAll('""', '"'),
  )
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

let loading: Promise<void> | undefined

async function readParquet(path: string): Promise<TextRow[]> {
  loading ??= init() // once: see encoders/parquet
  await loading
  const rows = await parquetReadObjects({
    file: bufferOf(path),
    compressors: { ZSTD: (input) => decompress(Buffer.from(input)) },
    utf8: false,
  })
  return rows.map(toTextRow)
}

/** Names, types and repetition of the columns in a Parquet file, with the rows of each row group. */
export function describeParquet(path: string) {
  const { buffer, byteOffset, byteLength } = readFileSync(path)
  const { schema, row_groups } = parquetMetadata(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
  return { columns: schema.slice(1), groups: row_groups }
}

function bufferOf(path: string): AsyncBuffer {
  const { buffer, byteOffset, byteLength } = readFileSync(path)
  return {
    byteLength,
    slice: (from, to) => buffer.slice(byteOffset + from, byteOffset + (to ?? byteLength)) as ArrayBuffer,
  }
}

/** The row as text. */
export function toTextRow(row: { readonly [column: string]: unknown }): TextRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toText(value)]))
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : String(value)
}
