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

/** Calls that a body counts as for the rate limit. */
export function callCount(body: ParsedBody): number {
  return body.kind === 'single' ? 1 : body.items.length
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
