import { apiKey, endpoint, keyHeaders, noteRefusal } from './session.js'

/** A row by column. */
export type SqlRow = { readonly [column: string]: unknown }

/** How a query ended. `isOff`: the server does not serve SQL. */
interface SqlEnd {
  readonly rows: readonly SqlRow[]
  readonly error: string | undefined
  readonly isOff: boolean
}

/** Max rows that the page reads. */
const MAX_ROWS = 50_000

/** Runs a query by POST /sql and reads its rows as they arrive. Never rejects. */
export async function runQuery(
  query: string,
  signal: AbortSignal,
  onRows: (rows: readonly SqlRow[]) => void,
): Promise<SqlEnd> {
  const rows: SqlRow[] = []
  // The last line marks the end: a browser drops the unread part of an aborted response.
  let last: string | undefined
  const key = apiKey.get()
  try {
    const response = await fetch(endpoint('sql'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/x-ndjson', ...keyHeaders() },
      body: JSON.stringify({ query, format: 'ndjson', end: true }),
      signal,
    })
    if (response.status === 404 || response.status === 405) return { rows, error: undefined, isOff: true }
    if (!response.ok) {
      const message = readError(await response.text())
      if (response.status === 401) noteRefusal(key, message)
      return { rows, error: message, isOff: false }
    }
    for await (const line of linesOf(response.body!)) {
      if (last !== undefined) {
        rows.push(JSON.parse(last) as SqlRow)
        if (rows.length % 500 === 0) onRows([...rows])
        if (rows.length >= MAX_ROWS)
          return { rows, error: `more than ${MAX_ROWS} rows: these are the first`, isOff: false }
      }
      last = line
    }
    const { end } = JSON.parse(last ?? '{"end":{}}') as { end: { error?: string } }
    return { rows, error: end.error, isOff: false }
  } catch (error) {
    return { rows, error: signal.aborted ? 'stopped' : (error as Error).message, isOff: false }
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split('\n')
      rest = lines.pop() ?? ''
      yield* lines.filter((line) => line !== '')
    }
    if (rest !== '') yield rest
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Returns the message of `{"error": "…"}` or of a JSON-RPC envelope. */
function readError(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: string | { message: string } }
    return typeof error === 'string' ? error : error.message
  } catch {
    return text
  }
}
