import { createHmac, timingSafeEqual } from 'node:crypto'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { RpcContext } from '../core/context.js'
import { INVALID_PARAMS, invalidParams, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/** Position of a paged token query. */
export interface TokenCursor {
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

const MAC_BYTES = 16
const ALTERED = 'cursor: was altered, or is of another query; begin again without a cursor'

/** Errors of `decodeTokenCursor`, for documentation. `argument`: index of the parameter with the cursor. */
export function cursorErrors(argument: number): ErrorDoc[] {
  return [
    { code: INVALID_PARAMS, message: `invalid argument ${argument}: ${ALTERED}` },
    {
      code: SERVER_ERROR,
      message: 'the chain was reorganised below the cursor: block N is another one now',
      when: "a reorg replaced the query's last block after the first page",
    },
    {
      code: SERVER_ERROR,
      message: 'the query of the cursor ends with block N, the newest block is N; try again',
      when: 'a replica is behind the server that issued the cursor',
    },
  ]
}

/** Returns the text of a cursor: base64url of a MAC and of JSON with the place, and the hash of the last block. */
export function encodeTokenCursor({ toBlock, place }: TokenCursor, scope: CursorScope, context: CursorContext): string {
  const payload = Buffer.from(JSON.stringify([toBlock, formatData(context.chain.blockHash(toBlock)!), ...place]))
  return Buffer.concat([authenticate(payload, scope, context), payload]).toString('base64url')
}

/** Decodes a cursor. @throws RpcError -32602 if it is malformed, altered, or issued for another secret or query;
 *  -32000 if the query's last block was replaced, or is beyond the head */
export function decodeTokenCursor(text: string, scope: CursorScope, context: CursorContext): TokenCursor {
  const bytes = Buffer.from(text, 'base64url')
  const [mac, payload] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)]
  if (mac.length < MAC_BYTES || !timingSafeEqual(mac, authenticate(payload, scope, context))) {
    throw invalidParams(`invalid argument ${scope.argument}: ${ALTERED}`)
  }
  const [toBlock, hash, ...place] = JSON.parse(payload.toString()) as [number, string, ...(number | string)[]]
  const head = context.chain.head() ?? -1
  if (toBlock > head) {
    const message = `the query of the cursor ends with block ${toBlock}, the newest block is ${head}; try again`
    throw new RpcError(SERVER_ERROR, message)
  }
  const now = context.chain.blockHash(toBlock)
  if (now === undefined || formatData(now) !== hash) {
    const message = `the chain was reorganised below the cursor: block ${toBlock} is another one now`
    throw new RpcError(SERVER_ERROR, message, { forkBlock: formatQuantity(toBlock) })
  }
  return { toBlock, place }
}

/** HMAC-SHA-256 (RFC 2104), truncated to 16 bytes. */
function authenticate(payload: Uint8Array, { method, query }: CursorScope, { cursorSecret }: CursorContext): Buffer {
  const scope = JSON.stringify(['token cursor 1', method, query])
  return createHmac('sha256', cursorSecret).update(scope).update('\0').update(payload).digest().subarray(0, MAC_BYTES)
}
