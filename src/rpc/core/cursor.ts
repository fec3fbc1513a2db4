import { createHmac } from 'node:crypto'
import { formatQuantity } from '../../lib/hex.js'
import type { ChainReader } from '../../store/rows/types.js'
import { RpcError, SERVER_ERROR } from './errors.js'
import type { ErrorDoc } from './method.js'

/* What cursors of pages share. */

/** Length of the MAC of a cursor. */
export const CURSOR_MAC_BYTES = 16

/** Returns the MAC of a cursor, 16 bytes: HMAC-SHA-256 (RFC 2104) over the parts, truncated. `secret`: 32 bytes. */
export function authenticateCursor(secret: Uint8Array, parts: readonly (string | Uint8Array)[]): Uint8Array {
  const mac = createHmac('sha256', secret)
  for (const part of parts) mac.update(part)
  return mac.digest().subarray(0, CURSOR_MAC_BYTES)
}

/** The errors of the two functions below, for documentation. `whenReorganised` completes "This happens when …". */
export function cursorStateErrors(whenReorganised: string): ErrorDoc[] {
  return [
    {
      code: SERVER_ERROR,
      message: 'the chain was reorganised below the cursor: block N is another one now',
      when: whenReorganised,
    },
    {
      code: SERVER_ERROR,
      message: 'the query of the cursor ends with block N, the newest block is N; try again',
      when: 'a replica is behind the server that issued the cursor',
    },
  ]
}

/** The error of a cursor that is older than a reorg; `forkBlock` is the first block that was replaced. */
export function reorganisedBelowCursor(forkBlock: number): RpcError {
  const message = `the chain was reorganised below the cursor: block ${forkBlock} is another one now`
  return new RpcError(SERVER_ERROR, message, { forkBlock: formatQuantity(forkBlock) })
}

/** @throws RpcError when the query ends beyond the head, for example on a replica behind the one that issued the
 *  cursor: the page would omit what the missing blocks have */
export function requireWithinHead(toBlock: number, chain: Pick<ChainReader, 'head'>): void {
  const head = chain.head() ?? -1
  if (toBlock <= head) return
  throw new RpcError(
    SERVER_ERROR,
    `the query of the cursor ends with block ${toBlock}, the newest block is ${head}; try again`,
  )
}
