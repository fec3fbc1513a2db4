import { Worker } from 'node:worker_threads'
import { messageOf } from '../lib/errors.js'
import { readAddedAbis } from '../store/addedAbis.js'
import type { Database } from '../store/database.js'
import { openForQueries } from '../store/sql/queryDatabase.js'
import { type RunningQuery, runQuery, type SqlValue } from '../store/sql/runQuery.js'
import { readEventViews } from './eventViews.js'
import { formatRows } from './formats.js'
import { MEMORY_SIGNAL, type QueryProcessOptions, type QueryReply, type QueryRequest } from './protocol.js'

/* The entry of a query process. SQLite's loop cannot be interrupted from JavaScript, so the parent kills the process. */

const BATCH_ROWS = 500
// Wide rows make shorter batches.
const BATCH_CHARACTERS = 262_144

const { datadir, memoryBytes } = JSON.parse(process.argv[2]) as QueryProcessOptions
const isStranger = memoryBytes !== undefined

interface OpenQuery extends RunningQuery {
  readonly format: Extract<QueryRequest, { kind: 'run' }>['format']
  readonly maxRows: number
  sent: number
}

let opened: { db: Database; version: () => string; seen: string } | undefined
let query: OpenQuery | undefined

/** A connection with views of the ABIs of now. */
function connection(): Database {
  if (opened !== undefined && opened.version() !== opened.seen) {
    opened.db.close()
    opened = undefined
  }
  if (opened === undefined) {
    const db = openForQueries(datadir, readEventViews)
    const { version } = readAddedAbis(db)
    opened = { db, version, seen: version() }
  }
  return opened.db
}

function begin({ sql, format, maxRows = Number.POSITIVE_INFINITY }: Extract<QueryRequest, { kind: 'run' }>): void {
  query?.close()
  query = undefined
  query = { ...runQuery(connection(), sql, { isStranger }), format, maxRows, sent: 0 }
}

function nextBatch(current: OpenQuery): QueryReply {
  const { columns, rows, format, maxRows } = current
  const isFirst = current.sent === 0
  const values: (readonly SqlValue[])[] = []
  let characters = 0
  let isLast = false
  while (values.length < BATCH_ROWS && characters < BATCH_CHARACTERS) {
    const { done, value } = rows.next()
    if (done) {
      isLast = true
      break
    }
    if (current.sent + values.length >= maxRows)
      throw new Error(`more than ${maxRows} rows; add a LIMIT or narrow the query`)
    values.push(value)
    for (const cell of value)
      characters += cell === null || (typeof cell !== 'object' && typeof cell !== 'string') ? 8 : cell.length
  }
  current.sent += values.length
  if (format === 'values') return { kind: 'batch', columns, text: '', values, isLast }
  return {
    kind: 'batch',
    columns,
    text: formatRows(format, columns, { rows: values, header: isFirst }),
    values: [],
    isLast,
  }
}

function answer(request: QueryRequest): QueryReply {
  try {
    if (request.kind === 'run') begin(request)
    const batch = nextBatch(query!)
    if (batch.kind === 'batch' && batch.isLast) endQuery()
    return batch
  } catch (error) {
    endQuery()
    return { kind: 'failed', message: messageOf(error) }
  }
}

function endQuery(): void {
  query?.close()
  query = undefined
}

// A query that loops keeps this thread busy after the parent has been killed. Memory is that of the process without mapped files:
// better-sqlite3 is built without memory statistics, which PRAGMA hard_heap_limit needs.
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
process.on('SIGINT', () => {}) // of a terminal, for the parent
process.on('message', (request: QueryRequest) => {
  process.send?.(answer(request))
})
try {
  connection()
} catch {
  // The first query says why.
}
process.send?.({ kind: 'ready' } satisfies QueryReply)
