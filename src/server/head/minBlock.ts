import { abbreviate, formatQuantity } from '../../lib/hex.js'
import { INVALID_REQUEST, type RpcErrorBody, SERVER_ERROR } from '../../rpc/core/errors.js'
import type { Refusal } from '../access/access.js'

/** Response header with the number of the newest block, in decimal, when the server began to answer. */
export const HEAD_HEADER = 'Cairn-Head'

/** Parses the minimum block of the request header `Cairn-Min-Block`; returns the error for a value that is not a
 *  number. */
export function parseMinBlock(value: string): number | RpcErrorBody {
  if (/^\d{1,15}$/.test(value)) return Number(value)
  const got = JSON.stringify(abbreviate(value))
  return { code: INVALID_REQUEST, message: `Cairn-Min-Block: expected a block number in decimal, got ${got}` }
}

/** Refusal of a request for a block that the server does not have yet. */
export function behindRefusal(head: number | undefined, wanted: number): Refusal {
  const newest = head === undefined ? 'there are no blocks yet' : `the newest block is ${head}`
  const message = `block ${wanted} is not here yet, ${newest} (Cairn-Min-Block)`
  const data = { head: head === undefined ? null : formatQuantity(head), minBlock: formatQuantity(wanted) }
  return { status: 503, reason: 'behind', error: { code: SERVER_ERROR, message, data }, retryAfterSeconds: 1 }
}
