import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { startProcess } from '../lib/process.js'
import { printTable } from '../lib/table.js'
import type { BulkOrder, BulkRead } from './processes/bulkReader.js'

/** A way to read all logs. */
interface Reading {
  readonly name: string
  readonly logs: number
  readonly seconds: number
  readonly logsPerSecond: number
  /** Undefined where no bytes are made. */
  readonly bytesPerLog: number | undefined
}

/** What was read. Without bytes where none are made. */
type Read = Omit<BulkRead, 'bytes'> & { readonly bytes?: number }
type Ways = { readonly [name: string]: () => Promise<Read> }

interface DuckDb {
  /** One reading into its vectors. */
  readonly vectors: Read
  readonly ways: Ways
  /** Why it writes no Arrow. */
  readonly withoutArrow: string | undefined
  stop(): void
}

/** All logs by stream, by cursor, and out of DuckDB. */
export interface StreamFigures {
  readonly readings: readonly Reading[]
  /** The Arrow stream beside `eth_getLogsWithCursor`: how many times its rate, and which share of its bytes. */
  readonly rateToCursor: number
  readonly bytesToCursor: number
  /** Why DuckDB wrote no Arrow. */
  readonly withoutDuckDbArrow: string | undefined
}

// Each way is measured this often at most, in turns; the fastest counts.
const MOST_ROUNDS = 6
const TURNS = 2

/** Reads all logs of the server at `url` in each way. Clients only count bytes. @throws Error if they read different
 *  numbers of logs */
export async function measureStream({
  url,
  directory,
  runs,
}: {
  url: string
  directory: string
  runs: number
}): Promise<StreamFigures> {
  const ndjson = join(directory, 'logs.ndjson')
  const all = { url: `${url}/v3/stream`, body: { from: 0, logs: [{}] } }
  const slim = { url: all.url, body: { ...all.body, fields: { logs: SLIM } } }
  const zstd = { url: all.url, body: { ...all.body, compression: 'zstd' } }
  const lines: BulkOrder = { kind: 'ndjson', ...all, file: ndjson }
  const reader = startProcess<BulkRead>(new URL('./processes/bulkReader.js', import.meta.url), lines)
  const read = async (order: BulkOrder) => {
    reader.send(order)
    return reader.next()
  }
  const best = new Map<string, Reading>()
  let stopDuckDb = () => {}
  let withoutDuckDbArrow: string | undefined
  try {
    await reader.next()
    const duckDb = await openDuckDb(ndjson, directory, (from) => read({ kind: 'arrow', url: from, body: {} }))
    stopDuckDb = duckDb.stop
    withoutDuckDbArrow = duckDb.withoutArrow
    keepBest(best, 'DuckDB, own table into its vectors', duckDb.vectors)
    const ways: Ways = {
      'stream, Arrow': () => read({ kind: 'arrow', ...all }),
      'stream, Arrow, without chain_id and n_data_bytes': () => read({ kind: 'arrow', ...slim }),
      'stream, Arrow, compressed': () => read({ kind: 'arrow', ...zstd }),
      ...duckDb.ways,
      'stream, NDJSON': () => read(lines),
      eth_getLogsWithCursor: () => read({ kind: 'cursor', url }),
    }
    for (let round = 0; round < Math.min(runs, MOST_ROUNDS); round++) {
      for (const [name, readAll] of Object.entries(ways)) {
        // The first after another way finds caches and memory as that left them.
        for (let i = 0; i < TURNS; i++) keepBest(best, name, await readAll())
      }
    }
  } finally {
    stopDuckDb()
    reader.kill()
  }
  const readings = [...best.values()]
  const counts = new Set(readings.map(({ logs }) => logs))
  if (counts.size > 1) throw new Error(`different numbers of logs: ${[...counts].join(', ')}`)
  const [arrow, cursor] = [best.get('stream, Arrow')!, best.get('eth_getLogsWithCursor')!]
  return {
    readings,
    rateToCursor: arrow.logsPerSecond / cursor.logsPerSecond,
    bytesToCursor: arrow.bytesPerLog! / cursor.bytesPerLog!,
    withoutDuckDbArrow,
  }
}

const SLIM = [
  ...['block_number', 'transaction_index', 'log_index', 'transaction_hash', 'address'],
  ...['topic0', 'topic1', 'topic2', 'topic3', 'data', 'block_timestamp'],
]

function keepBest(best: Map<string, Reading>, name: string, { logs, seconds, bytes }: Read): void {
  const before = best.get(name)
  if (before !== undefined && before.seconds <= seconds) return
  best.set(name, { name, logs, seconds, logsPerSecond: logs / seconds, bytesPerLog: bytes && bytes / logs })
}

// What the process below does: reads the table and writes an Arrow stream to a file.
const WRITE_ARROW = `
import sys, time, duckdb, pyarrow as pa
path, out = sys.argv[1:]
connection = duckdb.connect(path, read_only=True)
started = time.time()
reader = connection.sql("SELECT * FROM logs ORDER BY block_number, log_index").to_arrow_reader(16384)
rows = 0
with pa.OSFile(out, "wb") as sink, pa.ipc.new_stream(sink, reader.schema) as writer:
    for batch in reader:
        rows += batch.num_rows
        writer.write_batch(batch)
print(rows, time.time() - started)
`

// The same to each client that asks, in writes of a megabyte.
const SEND_ARROW = `
import sys, duckdb, pyarrow as pa
from http.server import BaseHTTPRequestHandler, HTTPServer
connection = duckdb.connect(sys.argv[1], read_only=True)
class Handler(BaseHTTPRequestHandler):
    wbufsize = 1 << 20
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        reader = connection.sql("SELECT * FROM logs ORDER BY block_number, log_index").to_arrow_reader(16384)
        with pa.ipc.new_stream(self.wfile, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    def log_message(self, *arguments):
        pass
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
`

/** DuckDB with the rows of an NDJSON file in a table of its own: reads them into its vectors, and, with its Python
 *  package, writes them as an Arrow stream to a file, and over HTTP to the client that reads Cairn's. */
async function openDuckDb(
  ndjson: string,
  directory: string,
  readArrow: (url: string) => Promise<Read>,
): Promise<DuckDb> {
  const path = join(directory, 'logs.duckdb')
  const instance = await DuckDBInstance.create(path, { memory_limit: '4GB' })
  const connection = await instance.connect()
  const blob = (name: string) => `unhex(substr(log.${name}, 3)) AS ${name}`
  const columns = SLIM.map((name) =>
    /hash|address|topic|data/.test(name) ? blob(name) : `log.${name}::UINTEGER AS ${name}`,
  )
  const types = SLIM.map((name) => `${name} ${/hash|address|topic|data/.test(name) ? 'VARCHAR' : 'UINTEGER'}`)
  const read = `read_json('${ndjson}', format = 'newline_delimited', columns = {log: 'STRUCT(${types.join(', ')})'})`
  await connection.run(`CREATE TABLE logs AS SELECT ${columns.join(', ')} FROM ${read} WHERE log IS NOT NULL`)
  await connection.run('CHECKPOINT')
  const started = performance.now()
  const result = await connection.stream('SELECT * FROM logs ORDER BY block_number, log_index')
  let logs = 0
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) logs += chunk.rowCount
  const vectors: Read = { logs, seconds: (performance.now() - started) / 1000 }
  // Python opens the file now.
  connection.closeSync()
  instance.closeSync()
  const python = process.env.CAIRN_TEST_PYTHON ?? 'python3'
  const script = join(directory, 'writeArrow.py')
  const out = join(directory, 'logs.arrows')
  writeFileSync(script, WRITE_ARROW)
  const writeArrow = () => spawnSync(python, [script, path, out], { encoding: 'utf8' })
  const first = writeArrow()
  if (first.status !== 0) {
    const withoutArrow = `${python}: ${first.stderr?.trim().split('\n').at(-1) ?? 'not found'}`
    return { vectors, ways: {}, withoutArrow, stop: () => {} }
  }
  const sender = spawn(python, ['-c', SEND_ARROW, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(sender, 'exit').then(() => Promise.reject(new Error(`${python}: ended before it served`)))
  const [port] = (await Promise.race([once(sender.stdout, 'data'), ended])) as [Buffer]
  ended.catch(() => {})
  return {
    vectors,
    ways: {
      'DuckDB, own table to Arrow': async () => {
        const [rows, seconds] = writeArrow().stdout.trim().split(' ').map(Number)
        return { logs: rows, seconds, bytes: statSync(out).size }
      },
      'DuckDB, own table to Arrow over HTTP': () => readArrow(`http://127.0.0.1:${Number(port)}/`),
    },
    withoutArrow: undefined,
    stop: () => void sender.kill(),
  }
}

/** Prints the readings as a Markdown table. */
export function printStream({ readings, rateToCursor, bytesToCursor, withoutDuckDbArrow }: StreamFigures): void {
  printTable(
    ['all logs by', 'logs', 's', 'logs/s', 'bytes/log'],
    readings.map(({ name, logs, seconds, logsPerSecond, bytesPerLog }) => [
      name,
      logs.toLocaleString('en'),
      seconds.toFixed(2),
      Math.round(logsPerSecond).toLocaleString('en'),
      bytesPerLog?.toFixed(0) ?? '',
    ]),
  )
  console.log(`Arrow to cursor: ${rateToCursor.toFixed(2)} times the rate, ${bytesToCursor.toFixed(2)} of the bytes`)
  if (withoutDuckDbArrow !== undefined) console.log(`DuckDB wrote no Arrow: ${withoutDuckDbArrow}`)
}
