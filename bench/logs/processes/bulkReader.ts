import { createWriteStream } from 'node:fs'
import { request } from 'node:http'
import { finished } from 'node:stream/promises'

/** What is read: a stream in Arrow, in lines, which are written to a file, or the pages of a cursor. */
export type BulkOrder =
  | { readonly kind: 'arrow'; readonly url: string; readonly body: object }
  | { readonly kind: 'ndjson'; readonly url: string; readonly body: object; readonly file: string }
  | { readonly kind: 'cursor'; readonly url: string }

/** What was read. */
export interface BulkRead {
  readonly logs: number
  readonly bytes: number
  readonly seconds: number
}

type Counts = Pick<BulkRead, 'logs' | 'bytes'>

const PAGE = 10_000
const REMOVED = Buffer.from('"removed":false')

/* Reads what each message orders, counts it and says how long it took. A process of its own, as a bulk client is:
 * collecting the parts it has read costs a process of many modules three times as much. */

process.on('message', async (order: BulkOrder) => {
  const started = performance.now()
  const counts = await read(order)
  process.send!({ ...counts, seconds: (performance.now() - started) / 1000 } satisfies BulkRead)
})

function read(order: BulkOrder): Promise<Counts> {
  if (order.kind === 'cursor') return readPages(order.url)
  return order.kind === 'arrow' ? readArrow(order) : readNdjson(order)
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
async function readArrow({ url, body }: { url: string; body: object }): Promise<Counts> {
  let bytes = 0
  const arrow = new ArrowRows()
  await post(url, { accept: 'application/vnd.apache.arrow.stream', body }, (part) => {
    bytes += part.length
    arrow.take(part)
  })
  return { logs: arrow.count, bytes }
}

/** Reads a stream in lines and counts them; writes the bytes to `file`. */
async function readNdjson({ url, body, file }: { url: string; body: object; file: string }): Promise<Counts> {
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

/** Reads all logs page by page. */
async function readPages(url: string): Promise<Counts> {
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
