import { timingSafeEqual } from 'node:crypto'
import { formatData } from '../../lib/hex.js'
import type { RpcContext } from '../core/context.js'
import {
  authenticateCursor,
  CURSOR_MAC_BYTES,
  cursorStateErrors,
  reorganisedBelowCursor,
  requireWithinHead,
} from '../core/cursor.js'
import { INVALID_PARAMS, invalidParams } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/** Position of a paged query. */
export interface PageCursor {
  /** The query's last block, fixed by the first page. */
  readonly toBlock: number
  /** Where the next page begins, as the method defines it. */
  readonly place: readonly (number | string)[]
}

/** What a cursor belongs to: the method, the index of its parameter with the cursor, and the rest of the query. */
export interface CursorScope {
  readonly method: string
  readonly argument: number
  /** Plain JSON. */
  readonly query: unknown
}

type CursorContext = Pick<RpcContext, 'chain' | 'cursorSecret'>

const ALTERED = 'cursor: was altered, or is of another query; begin again without a cursor'

/** Errors of `decodePageCursor`, for documentation. `argument`: index of the parameter with the cursor. */
export function cursorErrors(argument: number): ErrorDoc[] {
  return [
    { code: INVALID_PARAMS, message: `invalid argument ${argument}: ${ALTERED}` },
    ...cursorStateErrors("a reorg replaced the query's last block after the first page"),
  ]
}

/** Returns the text of a cursor: base64url of a MAC and of JSON with the place, and the hash of the last block. */
export function encodePageCursor({ toBlock, place }: PageCursor, scope: CursorScope, context: CursorContext): string {
  const payload = Buffer.from(JSON.stringify([toBlock, formatData(context.chain.blockHash(toBlock)!), ...place]))
  return Buffer.concat([authenticate(payload, scope, context), payload]).toString('base64url')
}

/** Decodes a cursor. @throws RpcError -32602 if it is malformed, altered, or issued for another secret or query;
 *  -32000 if the query's last block was replaced, or is beyond the head */
export function decodePageCursor(text: string, scope: CursorScope, context: CursorContext): PageCursor {
  const bytes = Buffer.from(text, 'base64url')
  const [mac, payload] = [bytes.subarray(0, CURSOR_MAC_BYTES), bytes.subarray(CURSOR_MAC_BYTES)]
  if (mac.length < CURSOR_MAC_BYTES || !timingSafeEqual(mac, authenticate(payload, scope, context))) {
    throw invalidParams(`invalid argument ${scope.argument}: ${ALTERED}`)
  }
  const [toBlock, hash, ...place] = JSON.parse(payload.toString()) as [number, string, ...(number | string)[]]
  requireWithinHead(toBlock, context.chain)
  const now = context.chain.blockHash(toBlock)
  if (now === undefined || formatData(now) !== hash) throw reorganisedBelowCursor(toBlock)
  return { toBlock, place }
}

function authenticate(
  payload: Uint8Array,
  { method, query }: CursorScope,
  { cursorSecret }: CursorContext,
): Uint8Array {
  return authenticateCursor(cursorSecret, [JSON.stringify(['token cursor 1', method, query]), '\0', payload])
}
