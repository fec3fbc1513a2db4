import type { IncomingMessage } from 'node:http'
import { messageOf } from '../../lib/errors.js'
import { ROW_FORMATS, type RowFormat } from '../../sql/formats.js'
import type { Batch, LakeChoice } from '../../sql/protocol.js'
import { createQueryRunner, type QueryRunner } from '../../sql/queryRunner.js'
import { type Access, type Caller, isRefusal, KEY_INVALID, type Refusal, retryHeaders } from '../access/access.js'
import { clientOfAddress } from '../access/addresses.js'
import { type CorsPolicy, isAllowedOrigin } from '../access/cors.js'
import type { Admission } from '../admission/admission.js'
import type { RefusalReason } from '../admission/refusals.js'
import { BadRequest, type BodyExchange, sendBodyError } from '../bodyExchange.js'
import { writeParts } from '../connections/writeParts.js'
import type { SqlLimits } from './sqlLimits.js'

/** Answers `POST /sql/<KEY>`. */
export interface SqlEndpoint {
  handle(exchange: BodyExchange): void
  /** Ends the queries of keys that were revoked. */
  endRevoked(): void
  close(): void
}

/** The name of queries in the limits of a key. */
const LIMITED_AS = 'sql'

const CONTENT_TYPES: { readonly [F in RowFormat]: string } = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
}

/** Names what answered: DuckDB or SQLite. */
const ENGINE_HEADER = 'Cairn-Sql-Engine'

/** A query and the format of its rows. With `hasEnd` the last line is the end: `{"end":{}}`, or why there are no more
 *  rows. */
interface SqlBody {
  readonly sql: string
  readonly format: RowFormat
  readonly hasEnd: boolean
}

/** A query that is running in a process. */
interface RunningQuery {
  readonly caller: Caller
  /** Owner of the query: a key, else an address. */
  readonly owner: number | string
  end(): void
}

/** Creates the endpoint and starts its processes. */
export function createSqlEndpoint(options: {
  datadir: string
  lake: LakeChoice | undefined
  limits: SqlLimits
  access: Access
  admission: Pick<Admission, 'takeCallSlot'>
  cors: CorsPolicy
  count(reason: RefusalReason): void
}): SqlEndpoint {
  const { datadir, lake, limits, access, admission, cors } = options
  const { memoryBytes, maxRows, timeoutMs } = limits
  const runners = Array.from({ length: limits.processes }, () => createQueryRunner({ datadir, memoryBytes, lake }))
  const free: QueryRunner[] = [...runners]
  /** One key, or one address without keys, leaves one process to others. */
  const share = Math.max(1, limits.processes - 1)
  const running = new Set<RunningQuery>()

  const answer = async (exchange: BodyExchange, caller: Caller, body: SqlBody): Promise<void> => {
    const { remoteAddress } = exchange.request.socket
    const owner = caller.keyId ?? clientOfAddress(remoteAddress)
    const own = [...running].filter((query) => query.owner === owner).length
    if (own >= share || free.length === 0) {
      options.count('in_flight')
      const message =
        own >= share ? `${own} queries of this client run already` : `${runners.length} queries run already`
      return sendBodyError(exchange, 503, `${message}; try again`, ['Retry-After', '1'])
    }
    const release = admission.takeCallSlot(
      { caller, outputShare: exchange.outputShare, remoteAddress },
      body.sql.length,
    )
    if (typeof release !== 'function') return refuse(exchange, release)
    const runner = free.pop()!
    const end = new AbortController()
    const query = { caller, owner, end: () => end.abort() }
    running.add(query)
    exchange.response.on('close', query.end)
    try {
      const { sql, format } = body
      await sendRows(exchange, body, runner.run({ sql, format, maxRows }, { timeoutMs, signal: end.signal }))
    } finally {
      release()
      running.delete(query)
      free.push(runner)
    }
  }
  const refuse = (exchange: BodyExchange, refusal: Refusal) => {
    options.count(refusal.reason)
    sendBodyError(exchange, refusal.status, refusal.error.message, retryHeaders(refusal))
  }
  return {
    handle(exchange) {
      const { request, caller } = exchange
      if (isRefusal(caller)) return refuse(exchange, access.countRefusal(caller, request.socket.remoteAddress))
      if (!mayAsk(request, cors)) {
        options.count('bad_origin')
        return sendBodyError(exchange, 403, `pages of ${request.headers.origin} may not query; allow them with --cors`)
      }
      if (request.method !== 'POST')
        return sendBodyError(exchange, 405, 'method not allowed, use POST', ['Allow', 'POST, OPTIONS'])
      const refusal = access.refuse(caller, 1)
      if (refusal !== undefined) return refuse(exchange, refusal)
      if (access.exclude(caller, LIMITED_AS) !== undefined) {
        return sendBodyError(exchange, 403, `this API key may not query: its methods do not include ${LIMITED_AS}`)
      }
      exchange.readBody(
        (body) => {
          try {
            // The body may have taken a minute to arrive.
            if (!access.isLive(caller)) return refuse(exchange, KEY_INVALID)
            answer(exchange, caller, parseBody(request, body)).catch((error: unknown) => fail(exchange, error))
          } catch (error) {
            fail(exchange, error)
          }
        },
        (status, message) => sendBodyError(exchange, status, message),
      )
    },
    endRevoked() {
      for (const { caller, end } of running) if (!access.isLive(caller)) end()
    },
    close() {
      for (const runner of runners) runner.close()
    },
  }
}

/** False for pages of other origins: a browser sends them plain text without a preflight. */
function mayAsk({ headers: { origin, host } }: IncomingMessage, cors: CorsPolicy): boolean {
  if (origin === undefined || isAllowedOrigin(cors, origin)) return true
  return origin.replace(/^https?:\/\//, '') === host
}

function parseBody({ headers }: IncomingMessage, body: Buffer): SqlBody {
  const type = (headers['content-type'] ?? 'text/plain').split(';')[0].trim().toLowerCase()
  const accepted: RowFormat = /\btext\/csv\b/.test(headers.accept ?? '') ? 'csv' : 'ndjson'
  if (type === 'text/plain' || type === 'application/sql')
    return { sql: body.toString(), format: accepted, hasEnd: false }
  if (type !== 'application/json') {
    throw new BadRequest(415, 'content type must be text/plain, application/sql or application/json')
  }
  let json: { query?: unknown; format?: unknown; end?: unknown } | null
  try {
    json = JSON.parse(body.toString()) as typeof json
  } catch (error) {
    throw new BadRequest(400, `expected a JSON object with query: ${messageOf(error)}`)
  }
  const { query, format = accepted, end: hasEnd = false } = json ?? {}
  if (typeof query !== 'string') throw new BadRequest(400, 'query: expected a string')
  const known = ROW_FORMATS.find((name) => name === format)
  if (known === undefined)
    throw new BadRequest(400, `format: expected ${ROW_FORMATS.join(' or ')}, got ${JSON.stringify(format)}`)
  if (typeof hasEnd !== 'boolean') throw new BadRequest(400, `end: expected a boolean, got ${JSON.stringify(hasEnd)}`)
  if (hasEnd && known !== 'ndjson') throw new BadRequest(400, `end: expected false with format ${known}`)
  return { sql: query, format: known, hasEnd }
}

/** Sends the rows as they are read. An error before the first row is the response. A later error is the end line if
 *  requested, otherwise it ends the connection in the middle, after a line with the reason. */
async function sendRows(
  exchange: BodyExchange,
  { format, hasEnd }: SqlBody,
  batches: AsyncGenerator<Batch>,
): Promise<void> {
  const { response, headers } = exchange
  const first = await batches.next()
  const engine = first.done ? [] : [ENGINE_HEADER, first.value.engine]
  response.writeHead(200, [...headers, 'Content-Type', CONTENT_TYPES[format], 'Cache-Control', 'no-store', ...engine])
  async function* parts() {
    if (!first.done) yield Buffer.from(first.value.text)
    for await (const { text } of batches) yield Buffer.from(text)
  }
  try {
    await writeParts(response, parts(), (part) => response.write(part))
    response.end(hasEnd ? '{"end":{}}\n' : undefined)
  } catch (error) {
    if (hasEnd) return void response.end(`${JSON.stringify({ end: { error: messageOf(error) } })}\n`)
    if (format === 'ndjson') response.write(`${JSON.stringify({ error: messageOf(error) })}\n`)
    setImmediate(() => response.destroy())
  } finally {
    await batches.return(undefined)
  }
}

function fail(exchange: BodyExchange, error: unknown): void {
  sendBodyError(exchange, error instanceof BadRequest ? error.status : 400, messageOf(error))
}
