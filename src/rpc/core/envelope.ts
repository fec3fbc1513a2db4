import { INVALID_REQUEST, PARSE_ERROR, type RpcErrorBody } from './errors.js'
import { measureShape } from './jsonShape.js'
import { scanRawIds } from './rawIds.js'
import type { ResultStream } from './resultStream.js'

/** Requests per batch: geth's default. */
const MAX_BATCH_ITEMS = 1000

/** A checked request. */
export interface RpcCall {
  readonly method: string
  /** As received: an array, an object, or undefined. */
  readonly params: unknown
  /** The id as JSON text; undefined for a notification, which is not answered. */
  readonly idText: string | undefined
}

/** A batch item or body that is not a request, and its error. */
export interface InvalidCall {
  readonly idText: string
  readonly error: RpcErrorBody
}

/** The content of a body. `values` estimates the number of JSON values, never too low; undefined for a short body. */
export type ParsedBody =
  | { readonly kind: 'single'; readonly item: RpcCall | InvalidCall; readonly values?: number }
  | { readonly kind: 'batch'; readonly items: readonly (RpcCall | InvalidCall)[]; readonly values?: number }

/** The outcome of a call: the result's JSON as bytes, with `rest` still to come, or an error. */
export type RpcOutcome =
  | { readonly result: Uint8Array; readonly rest?: ResultStream }
  | { readonly error: RpcErrorBody }

const PARSE_FAILED: InvalidCall = { idText: 'null', error: { code: PARSE_ERROR, message: 'parse error' } }
const INVALID: RpcErrorBody = { code: INVALID_REQUEST, message: 'invalid request' }

/** Parses and checks a request or a batch (JSON-RPC 2.0, sections 4 and 6). Never throws: invalid items carry their
 *  error. */
export function parseBody(text: string): ParsedBody {
  const { fault, values } = measureShape(text)
  if (fault !== undefined) return { kind: 'single', item: invalidBody(fault) }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { kind: 'single', item: PARSE_FAILED }
  }
  if (!Array.isArray(body)) return { kind: 'single', item: checkCall(body, () => scanRawIds(text)[0]), values }
  if (body.length === 0) return { kind: 'single', item: invalidBody('empty batch') }
  if (body.length > MAX_BATCH_ITEMS) return { kind: 'single', item: invalidBody('batch too large') }
  let rawIds: (string | undefined)[] | undefined
  const rawId = (index: number) => {
    rawIds ??= scanRawIds(text)
    return rawIds[index]
  }
  return { kind: 'batch', items: body.map((item, index) => checkCall(item, () => rawId(index))), values }
}

/** True for an item that is a request. */
export function isCall(item: RpcCall | InvalidCall): item is RpcCall {
  return 'method' in item
}

function invalidBody(message: string): InvalidCall {
  return { idText: 'null', error: { code: INVALID_REQUEST, message } }
}

function checkCall(value: unknown, rawId: () => string | undefined): RpcCall | InvalidCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { idText: 'null', error: INVALID }
  const { jsonrpc, method, params } = value as Record<string, unknown>
  const idText = Object.hasOwn(value, 'id') ? formatId((value as { id: unknown }).id, rawId) : undefined
  if (idText === 'invalid') return { idText: 'null', error: INVALID }
  if (jsonrpc !== '2.0' || typeof method !== 'string') return { idText: idText ?? 'null', error: INVALID }
  return { method, params, idText }
}

/** The id as JSON text; `invalid` for an object or array. Numbers that JavaScript cannot represent, or would write
 *  differently, are copied from the body. */
function formatId(id: unknown, rawId: () => string | undefined): string {
  if (typeof id === 'object' && id !== null) return 'invalid'
  if (typeof id === 'number' && (!Number.isSafeInteger(id) || Object.is(id, -0))) return rawId() ?? 'null'
  return JSON.stringify(id)
}

/** The bytes of a response; the result, or the `dataJson` of an error, is embedded as is. */
export function encodeResponse(idText: string, outcome: RpcOutcome): Uint8Array[] {
  if ('error' in outcome) {
    const { dataJson, missing: _, ...error } = outcome.error
    const head = `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}`
    if (dataJson === undefined) return [Buffer.from(`${head}}`)]
    return [Buffer.from(`${head.slice(0, -1)},"data":`), dataJson, CLOSE_ERROR]
  }
  return [...encodeBeginning(idText, outcome.result), CLOSE]
}

/** Returns the bytes up to the end of an incomplete result. `CLOSE` follows the rest. */
export function encodeBeginning(idText: string, result: Uint8Array): Uint8Array[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":`), result]
}

/** The bytes of a batch response around those of its items. Small parts are joined: writing thousands of buffers to a
 *  socket takes longer than answering the batch. */
export function encodeBatch(responses: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let small: Uint8Array[] = []
  let smallBytes = 0
  const join = () => {
    if (small.length > 0) parts.push(Buffer.concat(small, smallBytes))
    small = []
    smallBytes = 0
  }
  const add = (part: Uint8Array) => {
    if (part.length > MAX_SMALL_BYTES) {
      join()
      return parts.push(part)
    }
    small.push(part)
    smallBytes += part.length
    if (smallBytes >= MIN_JOINED_BYTES) join()
  }
  responses.forEach((response, i) => {
    add(i === 0 ? OPEN_LIST : COMMA)
    for (const part of response) add(part)
  })
  add(CLOSE_LIST)
  join()
  return parts
}

/** Total bytes. */
export function sizeOf(parts: readonly Uint8Array[]): number {
  let size = 0
  for (const part of parts) size += part.length
  return size
}

/** Larger parts are not copied. */
const MAX_SMALL_BYTES = 16_384
/** Target size of joined parts. */
const MIN_JOINED_BYTES = 65_536

/** The end of a response. */
export const CLOSE = Buffer.from('}')
const CLOSE_ERROR = Buffer.from('}}')
const OPEN_LIST = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE_LIST = Buffer.from(']')
