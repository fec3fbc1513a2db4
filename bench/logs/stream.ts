import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { printTable } from '../lib/table.js'

/** A way to read all logs. */
interface Reading {
  readonly name: string
  readonly logs: number
  readonly seconds: number
  readonly logsPerSecond: number
  /** Undefined where no bytes are made. */
  readonly bytesPerLog: number | undefined
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

const PAGE = 10_000
// Each way is measured this often at most, in turns; the fastest counts.
const MOST_ROUNDS = 6

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
  const stream = `${url}/v3/stream`
  const all = { from: 0, logs: [{}] }
  const ways: { [name: string]: () => Promise<{ logs: number; bytes: number }> } = {
    'stream, Arrow': () => readArrow(stream, all),
    'stream, Arrow, without chain_id and n_data_bytes': () => readArrow(stream, { ...all, fields: { logs: SLIM } }),
    'stream, NDJSON': () => readNdjson(stream, all, ndjson),
    eth_getLogsWithCursor: () => readPages(url),
  }
  const best = new Map<string, Reading>()
  const rounds = Math.min(runs, MOST_ROUNDS)
  for (let round = 0; round < rounds; round++) {
    for (const [name, read] of Object.entries(ways)) keepBest(best, await timed(name, read))
  }
  const duckdb = await measureDuckDb(ndjson, directory, rounds)
  const readings = [...best.values(), ...duckdb.readings]
  const counts = new Set(readings.map(({ logs }) => logs))
  if (counts.size > 1) throw new Error(`different numbers of logs: ${[...counts].join(', ')}`)
  const [arrow, cursor] = [best.get('stream, Arrow')!, best.get('eth_getLogsWithCursor')!]
  return {
    readings,
    rateToCursor: arrow.logsPerSecond / cursor.logsPerSecond,
    bytesToCursor: arrow.bytesPerLog! / cursor.bytesPerLog!,
    withoutDuckDbArrow: duckdb.withoutArrow,
  }
}

const SLIM = [
  ...['block_number', 'transaction_index', 'log_index', 'transaction_hash', 'address'],
  ...['topic0', 'topic1', 'topic2', 'topic3', 'data', 'block_timestamp'],
]

async function timed(name: string, read: () => Promise<{ logs: number; bytes?: number }>): Promise<Reading> {
  const started = performance.now()
  const { logs, bytes } = await read()
  const seconds = (performance.now() - started) / 1000
  return { name, logs, seconds, logsPerSecond: logs / seconds, bytesPerLog: bytes && bytes / logs }
}

function keepBest(best: Map<string, Reading>, reading: Reading): void {
  const before = best.get(reading.name)
  if (before === undefined || before.seconds > reading.seconds) best.set(reading.name, reading)
}

/** Sends a request and passes the parts of its response. */
async function post(
  url: string,
  { accept, body }: { accept: string; body: object },
  take: (part: Buffer) => void,
): Promise<void> {
  const headers = { 'Content-Type': 'application/json', Accept: accept }
  await new Promise<void>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url}: ${response.statusCode}`))
      response.on('data', take).on('end', resolve).on('error', reject)
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
}

/** Reads an Arrow stream and counts its rows. */
async function readArrow(url: string, body: object) {
  let bytes = 0
  const arrow = new ArrowRows()
  await post(url, { accept: 'application/vnd.apache.arrow.stream', body }, (part) => {
    bytes += part.length
    arrow.take(part)
  })
  return { logs: arrow.count, bytes }
}

/** Reads all logs of a stream in lines and counts them; writes the bytes to `file`. */
async function readNdjson(url: string, body: object, file: string) {
  const target = createWriteStream(file)
  let [bytes, lines] = [0, 0]
  await post(url, { accept: 'application/x-ndjson', body }, (part) => {
    bytes += part.length
    target.write(part)
    for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) lines++
  })
  target.end()
  await finished(target)
  return { logs: lines - 1, bytes }
}

/** Counts the rows of an Arrow stream while it arrives: the lengths of its record batches. */
class ArrowRows {
  count = 0
  #isSchema = true
  #isOver = false
  /** Bytes of a body that are skipped. */
  #body = 0
  #waiting = Buffer.alloc(0)

  take(part: Buffer): void {
    for (let rest = part; rest.length > 0 && !this.#isOver; ) {
      const skipped = Math.min(this.#body, rest.length)
      this.#body -= skipped
      this.#waiting = Buffer.concat([this.#waiting, rest.subarray(skipped)])
      rest = this.#body > 0 ? rest.subarray(rest.length) : this.#readHead()
    }
  }

  /** Reads the metadata of a message, once all of it has arrived. Returns what follows it. */
  #readHead(): Buffer {
    const bytes = this.#waiting
    const length = bytes.length < 8 ? undefined : bytes.readUInt32LE(4)
    this.#isOver = length === 0
    if (length === undefined || bytes.length < 8 + length || this.#isOver) return bytes.subarray(bytes.length)
    const { header, bodyLength } = readMessage(bytes.subarray(8, 8 + length))
    // The metadata of a batch has its length as the first of its fields.
    if (!this.#isSchema) this.count += Number(bytes.readBigInt64LE(8 + header))
    this.#isSchema = false
    this.#body = bodyLength
    this.#waiting = Buffer.alloc(0)
    return bytes.subarray(8 + length)
  }
}

/** The place of the first field of a message's table, and the length of its body: fields of FlatBuffer tables, which
 *  leave out a 0. */
function readMessage(message: Buffer): { header: number; bodyLength: number } {
  const field = (table: number, index: number) => {
    const vtable = table - message.readInt32LE(table)
    const entry = 4 + 2 * index
    const offset = entry < message.readUInt16LE(vtable) ? message.readUInt16LE(vtable + entry) : 0
    return offset === 0 ? undefined : table + offset
  }
  const root = message.readUInt32LE(0)
  const at = field(root, 2)!
  const table = at + message.readUInt32LE(at)
  const body = field(root, 3)
  return { header: field(table, 0) ?? 0, bodyLength: body === undefined ? 0 : Number(message.readBigInt64LE(body)) }
}

/** Reads all logs page by page. */
async function readPages(url: string) {
  let [bytes, logs] = [0, 0]
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const filter = { fromBlock: '0x0', toBlock: 'latest' }
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getLogsWithCursor', params: [filter, cursor, PAGE] }
    const parts: Buffer[] = []
    await post(url, { accept: 'application/json', body }, (part) => void parts.push(part))
    const text = Buffer.concat(parts)
    bytes += text.length
    for (let at = text.indexOf(REMOVED); at >= 0; at = text.indexOf(REMOVED, at + REMOVED.length)) logs++
    cursor = (
      JSON.parse(`{${text.toString('latin1', text.lastIndexOf('"cursor"'), text.length - 1)}`) as {
        cursor: string | null
      }
    ).cursor
  }
  return { logs, bytes }
}

const REMOVED = Buffer.from('"removed":false')

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

/** DuckDB with the same rows in a table of its own: reads them into its vectors, and, with its Python package, writes
 *  them as an Arrow stream to a file, and over HTTP to the client that reads Cairn's. */
async function measureDuckDb(ndjson: string, directory: string, rounds: number) {
  const path = join(directory, 'logs.duckdb')
  const instance = await DuckDBInstance.create(path, { memory_limit: '4GB' })
  const connection = await instance.connect()
  const blob = (name: string) => `unhex(substr(log.${name}, 3)) AS ${name}`
  const columns = SLIM.map((name) =>
    /hash|address|topic|data/.test(name) ? blob(name) : `log.${name}::UINTEGER AS ${name}`,
  )
  const types = SLIM.map((name) => `${name}: '${/hash|address|topic|data/.test(name) ? 'VARCHAR' : 'UINTEGER'}'`)
  const read = `read_json('${ndjson}', format = 'newline_delimited', columns = {log: 'STRUCT(${types.map((type) => type.replaceAll("'", '').replace(':', '')).join(', ')})'})`
  await connection.run(`CREATE TABLE logs AS SELECT ${columns.join(', ')} FROM ${read} WHERE log IS NOT NULL`)
  await connection.run('CHECKPOINT')
  const readings = [
    await timed('DuckDB, own table into its vectors', async () => {
      const result = await connection.stream('SELECT * FROM logs ORDER BY block_number, log_index')
      let logs = 0
      for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
        logs += chunk.rowCount
      return { logs }
    }),
  ]
  connection.closeSync()
  instance.closeSync()
  const python = process.env.CAIRN_TEST_PYTHON ?? 'python3'
  const script = join(directory, 'writeArrow.py')
  const out = join(directory, 'logs.arrows')
  writeFileSync(script, WRITE_ARROW)
  const name = 'DuckDB, own table to Arrow'
  const best = new Map<string, Reading>()
  for (let round = 0; round < rounds; round++) {
    const { status, stdout, stderr } = spawnSync(python, [script, path, out], { encoding: 'utf8' })
    if (status !== 0) {
      return { readings, withoutArrow: `${python}: ${stderr?.trim().split('\n').at(-1) ?? 'not found'}` }
    }
    const [logs, seconds] = stdout.trim().split(' ').map(Number)
    keepBest(best, { name, logs, seconds, logsPerSecond: logs / seconds, bytesPerLog: statSync(out).size / logs })
  }
  const sender = spawn(python, ['-c', SEND_ARROW, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const ended = once(sender, 'exit').then(() => Promise.reject(new Error(`${python}: ended before it served`)))
    const [port] = (await Promise.race([once(sender.stdout, 'data'), ended])) as [Buffer]
    ended.catch(() => {})
    for (let round = 0; round < rounds; round++) {
      const read = () => readArrow(`http://127.0.0.1:${Number(port)}/`, {})
      keepBest(best, await timed('DuckDB, own table to Arrow over HTTP', read))
    }
  } finally {
    sender.kill()
  }
  return { readings: [...readings, ...best.values()], withoutArrow: undefined }
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
