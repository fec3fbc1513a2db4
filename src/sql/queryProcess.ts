import { Worker } from 'node:worker_threads'
import { messageOf } from '../lib/errors.js'
import { readAddedAbis } from '../store/addedAbis.js'
import type { Database } from '../store/database.js'
import type { RevertReason } from '../store/sql/callViews.js'
import { openForQueries } from '../store/sql/queryDatabase.js'
import { checkLength, runQuery, type SqlValue } from '../store/sql/runQuery.js'
import { addAddressTransactions } from './addressTransactions.js'
import { createCallDecoder } from './callDecoder.js'
import { createChainConnection, type LazyChainConnection } from './chainConnection.js'
import { readEventViews } from './eventViews.js'
import { explainQueryError } from './explainQueryError.js'
import { formatRows } from './formats.js'
import type { LakeQueries } from './lake/lakeQueries.js'
import {
  type EngineName,
  MEMORY_SIGNAL,
  type QueryProcessOptions,
  type QueryReply,
  type QueryRequest,
} from './protocol.js'
import { addStateFunctions } from './stateFunctions.js'
import { TokenQueries } from './tokenQueries.js'

/* Entry of a query process. SQLite's loop cannot be interrupted from JavaScript, so the parent kills the process. */

const BATCH_ROWS = 500
// Wide rows make shorter batches.
const BATCH_CHARACTERS = 262_144

/** Max row of an untrusted client's query, in characters of text and hex digits of bytes. */
const MAX_ROW_CHARACTERS = 16_000_000

/** Max characters of one message: the server's main thread reads each at once, in some milliseconds per million
 *  characters. */
const MESSAGE_CHARACTERS = 1_000_000

const { datadir, memoryBytes, lake } = JSON.parse(process.argv[2]) as QueryProcessOptions
const isStranger = memoryBytes !== undefined

interface OpenQuery {
  readonly engine: EngineName
  readonly columns: readonly string[]
  readonly rows: Iterator<readonly SqlValue[]> | AsyncIterator<readonly SqlValue[]>
  /** Ends the query and its snapshot. */
  close(): void
  readonly format: Extract<QueryRequest, { kind: 'run' }>['format']
  readonly maxRows: number
  sent: number
  /** The rest of a text that is longer than a message, and whether it is the last. */
  rest: { text: string; isLast: boolean } | undefined
}

/** A connection with views of the ABIs that it has seen. */
interface Opened {
  readonly db: Database
  /** Version of the ABIs in the database, and of those seen. */
  version(): string
  readonly seen: string
  readonly chain: LazyChainConnection
  readonly tokens: TokenQueries
  /** What re-executes transactions. The EVM is loaded for the first query that names it. */
  revertReason: RevertReason | undefined
}

let opened: Opened | undefined
let query: OpenQuery | undefined

/** Returns a connection with views of the current ABIs. */
function connection(): Opened {
  if (opened !== undefined && opened.version() !== opened.seen) {
    opened.chain.close()
    opened.db.close()
    opened = undefined
  }
  opened ??= open()
  return opened
}

function open(): Opened {
  const chain = createChainConnection(datadir)
  const tokens = new TokenQueries(chain)
  const calls = { ...createCallDecoder(chain), revertReason: (hash: Uint8Array) => opened!.revertReason!(hash) }
  let seen = ''
  const readEvents = (database: Database) => {
    seen = readAddedAbis(database).version() // before they are read: an ABI added meanwhile causes a new connection
    return readEventViews(database)
  }
  const db = openForQueries(datadir, readEvents, { calls, tokens })
  addStateFunctions(db, chain)
  addAddressTransactions(db, chain)
  return { db, version: readAddedAbis(db).version, seen, chain, tokens, revertReason: undefined }
}

const REASONS = /cairn_revert_reason|v_reverts/i

/** Loads what the statement executes. */
async function prepare(current: Opened, sql: string): Promise<void> {
  await current.tokens.loadFor(sql)
  if (current.revertReason !== undefined || !REASONS.test(sql)) return
  const { loadRevertReasons } = await import('./revertReasons.js')
  current.revertReason = await loadRevertReasons(current.chain.get())
}

async function begin({ sql, format, maxRows = Number.POSITIVE_INFINITY }: Extract<QueryRequest, { kind: 'run' }>) {
  endQuery()
  query = { ...(await start(sql)), format, maxRows, sent: 0, rest: undefined }
}

async function start(sql: string): Promise<Pick<OpenQuery, 'engine' | 'columns' | 'rows' | 'close'>> {
  if (lake !== undefined) {
    if (isStranger) checkLength(sql)
    lakeQueries ??= (await import('./lake/lakeQueries.js')).createLakeQueries(lake, memoryBytes)
    const found = await lakeQueries.run(connection().db, sql)
    if (found !== undefined) return { ...found, engine: 'DuckDB', close: () => void found.rows.return(undefined) }
  }
  const current = connection()
  await prepare(current, sql)
  return { ...runQuery(current.db, sql, { isStranger }), engine: 'SQLite' }
}

let lakeQueries: LakeQueries | undefined

async function nextBatch(current: OpenQuery): Promise<QueryReply> {
  if (current.rest !== undefined) return nextPart(current, current.rest)
  const { columns, format, engine } = current
  const isFirst = current.sent === 0
  const { values, isLast } = await readRows(current)
  current.sent += values.length
  if (format === 'values') return { kind: 'batch', columns, text: '', values, isLast, engine }
  return nextPart(current, { text: formatRows(format, columns, { rows: values, header: isFirst }), isLast })
}

/** Reads the next rows. @throws Error beyond a limit */
async function readRows({ rows, sent, maxRows }: OpenQuery) {
  const values: (readonly SqlValue[])[] = []
  let characters = 0
  while (values.length < BATCH_ROWS && characters < BATCH_CHARACTERS) {
    const step = rows.next()
    const { done, value } = step instanceof Promise ? await step : step // SQLite's rows need no turn of the event loop
    if (done) return { values, isLast: true }
    const number = sent + values.length + 1
    if (number > maxRows) throw new Error(`more than ${maxRows} rows; add a LIMIT or narrow the query`)
    const length = rowCharacters(value)
    if (isStranger && length > MAX_ROW_CHARACTERS) {
      const limit = `the limit is ${MAX_ROW_CHARACTERS}; select fewer or shorter columns`
      throw new Error(`row ${number} has ${length} characters, ${limit}`)
    }
    values.push(value)
    characters += length
  }
  return { values, isLast: false }
}

/** Returns the length of a row as text. */
function rowCharacters(row: readonly SqlValue[]): number {
  let characters = 0
  for (const cell of row) {
    if (typeof cell === 'string') characters += cell.length
    else characters += cell instanceof Uint8Array ? 2 * cell.length : 8
  }
  return characters
}

/** Returns the beginning of a text as a message and keeps the rest for the next one. */
function nextPart(current: OpenQuery, { text, isLast }: { text: string; isLast: boolean }): QueryReply {
  // Does not split a surrogate pair.
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(MESSAGE_CHARACTERS - 1))
  const end = isSplit ? MESSAGE_CHARACTERS - 1 : MESSAGE_CHARACTERS
  const isWhole = text.length <= end
  current.rest = isWhole ? undefined : { text: text.slice(end), isLast }
  const { columns, engine } = current
  return { kind: 'batch', columns, text: text.slice(0, end), values: [], isLast: isLast && isWhole, engine }
}

async function answer(request: QueryRequest): Promise<QueryReply> {
  try {
    if (request.kind === 'run') await begin(request)
    const batch = await nextBatch(query!)
    if (batch.kind === 'batch' && batch.isLast) endQuery()
    return batch
  } catch (error) {
    endQuery()
    return { kind: 'failed', message: explain(request, messageOf(error)) }
  }
}

function explain(request: QueryRequest, message: string): string {
  return request.kind === 'run' && opened !== undefined ? explainQueryError(opened.db, request.sql, message) : message
}

function endQuery(): void {
  query?.close()
  query = undefined
}

// A separate thread, since a looping query keeps this one busy after the parent was killed. Memory is that of the
// process without mapped files: better-sqlite3 is built without memory statistics, which PRAGMA hard_heap_limit needs.
const WATCH = `const { readFileSync } = require('node:fs')
const { workerData: { maxBytes, signal } } = require('node:worker_threads')
const { ppid } = process
const mappedShare = () => {
  try {
    const [, resident, shared] = readFileSync('/proc/self/statm', 'latin1').split(' ').map(Number)
    return shared / resident
  } catch {
    return 0
  }
}
setInterval(() => {
  if (process.ppid !== ppid) process.kill(process.pid, 'SIGKILL')
  const used = process.memoryUsage.rss() * (1 - mappedShare())
  if (used > maxBytes) process.kill(process.pid, signal)
}, maxBytes === Infinity ? 1000 : 20)`

const maxBytes = memoryBytes ?? Number.POSITIVE_INFINITY
new Worker(WATCH, { eval: true, workerData: { maxBytes, signal: MEMORY_SIGNAL } }).unref()
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => {}) // a terminal's Ctrl-C is for the parent
process.on('message', async (request: QueryRequest) => {
  process.send?.(await answer(request))
})
try {
  connection()
} catch {
  // The first query reports the reason.
}
process.send?.({ kind: 'ready' } satisfies QueryReply)
