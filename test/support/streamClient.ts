import { tableFromIPC } from 'apache-arrow'
import { formatData } from '../../src/lib/hex.js'
import { readZstd } from './arrowZstd.js'
import { type TextRow, toTextRow } from './chains/exportedFiles.js'

readZstd()

/** The end of a stream. */
export interface StreamEnd {
  readonly nextBlock: number
  readonly head: { readonly number: number; readonly hash: string; readonly finalized: number | null } | null
  readonly recent: readonly { readonly number: number; readonly hash: string }[]
}

/** An answered request: rows by kind, in their order. `end` is undefined for a response that is not whole. */
export interface StreamAnswer {
  readonly status: number
  readonly headers: Headers
  readonly rows: { readonly [kind: string]: TextRow[] }
  readonly end: StreamEnd | undefined
  readonly error: string | undefined
  readonly sizeBytes: number
}

export const ARROW_TYPE = 'application/vnd.apache.arrow.stream'
export const NDJSON_TYPE = 'application/x-ndjson'

/** Sends a request and reads the whole response. */
export async function askStream(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<StreamAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: NDJSON_TYPE, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const { status } = response
  const base = { status, headers: response.headers, sizeBytes: bytes.length }
  if (status === 200 && response.headers.get('content-type') === ARROW_TYPE) {
    return { ...base, ...readArrow(bytes), error: undefined }
  }
  const text = Buffer.from(bytes).toString()
  if (status === 200) return { ...base, ...readLines(text), error: undefined }
  const refusal = JSON.parse(text) as { error: string } & Partial<StreamEnd>
  const end = refusal.nextBlock === undefined ? undefined : (refusal as StreamEnd)
  return { ...base, rows: {}, end, error: refusal.error }
}

/** The rows of an Arrow stream, and the end behind it. */
export function readArrow(bytes: Uint8Array): Pick<StreamAnswer, 'rows' | 'end'> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const table = tableFromIPC(bytes)
  const names = table.schema.fields.map(({ name }) => name)
  const columns = names.map((name) => table.getChild(name)!)
  const rows = Array.from({ length: table.numRows }, (_, row) =>
    toTextRow(Object.fromEntries(names.map((name, i) => [name, plain(columns[i].get(row))]))),
  )
  const at = text.lastIndexOf('\n{')
  return { rows: { arrow: rows }, end: at < 0 ? undefined : (JSON.parse(text.toString('utf8', at)) as StreamEnd) }
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? formatData(value) : value
}

/** The rows of NDJSON by kind, and the last line. */
export function readLines(text: string): Pick<StreamAnswer, 'rows' | 'end'> {
  const rows: { [kind: string]: TextRow[] } = {}
  let end: StreamEnd | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [[kind, value]] = Object.entries(JSON.parse(line) as { [kind: string]: object })
    if (kind === 'end') end = value as StreamEnd
    else {
      rows[kind] ??= []
      rows[kind].push(toTextRow(value as { [name: string]: unknown }))
    }
  }
  return { rows, end }
}
