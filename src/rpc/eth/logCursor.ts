import { createHash, timingSafeEqual } from 'node:crypto'
import { equalBytes } from '../../lib/bytes.js'
import { abbreviate } from '../../lib/hex.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { authenticateCursor, CURSOR_MAC_BYTES, reorganisedBelowCursor, requireWithinHead } from '../core/cursor.js'
import { invalidParams, type RpcError } from '../core/errors.js'
import type { LogFilterObject } from './logFilter.js'

/** Position of a paged log query. Encoded as base64url of: 8 bytes of the filter's hash; as 48-bit big-endian integers
 *  the next log's index in its block, the query's last block and the newest scanned block, which is that of the next
 *  log; the last 4 bytes of the hashes of that block and of those before it; a MAC of 16 bytes. It does not depend on
 *  the database: servers with one secret accept each other's cursors. */
interface LogCursor {
  nextIndex: number
  /** The query's last block; fixed by the first page. */
  toBlock: number
  /** The newest block scanned so far. */
  seenBlock: number
}

/** Inputs of a cursor besides its filter. */
type CursorContext = Pick<RpcContext, 'chain' | 'cursorSecret'>

const FILTER_BYTES = 8
const INTEGER_BYTES = 6
const HASHES_AT = FILTER_BYTES + 3 * INTEGER_BYTES
const HASH_BYTES = 4
// Within this depth, a reorg is reported with its first block; a deeper one only as deeper.
const HASHES_KEPT = 64
// Part of the MAC: cursors of another layout are refused.
const LAYOUT = 'log cursor 2'

/** The text of a cursor for the filter, with hashes of the current chain. */
export function encodeCursor(cursor: LogCursor, filter: LogFilterObject, context: CursorContext): string {
  const { nextIndex, toBlock, seenBlock } = cursor
  const filterHash = hashFilter(filter)
  const payload = Buffer.alloc(HASHES_AT + HASHES_KEPT * HASH_BYTES)
  payload.set(filterHash.subarray(0, FILTER_BYTES), 0)
  for (const [i, value] of [nextIndex, toBlock, seenBlock].entries()) {
    payload.writeUIntBE(value, FILTER_BYTES + i * INTEGER_BYTES, INTEGER_BYTES)
  }
  let end = HASHES_AT
  for (let number = seenBlock; end < payload.length; number--, end += HASH_BYTES) {
    const hash = context.chain.blockHash(number)
    if (!hash) break
    payload.set(hash.subarray(-HASH_BYTES), end)
  }
  const used = payload.subarray(0, end)
  return Buffer.concat([used, authenticate(used, filterHash, context)]).toString('base64url')
}

/** Decodes a cursor. @throws RpcError -32602 if it is malformed, altered, or issued for another secret or filter;
 *  -32000 if a scanned block was replaced, or the query's last block is beyond the head. */
export function decodeCursor(text: string, filter: LogFilterObject, context: CursorContext): LogCursor {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < HASHES_AT + HASH_BYTES + CURSOR_MAC_BYTES || bytes.toString('base64url') !== text) {
    throw invalidCursor(`expected one that eth_getLogsWithCursor gave, got ${JSON.stringify(abbreviate(text))}`)
  }
  const payload = bytes.subarray(0, -CURSOR_MAC_BYTES)
  const filterHash = hashFilter(filter)
  if (!equalBytes(payload.subarray(0, FILTER_BYTES), filterHash.subarray(0, FILTER_BYTES))) {
    throw invalidCursor('is of another filter; send the same filter with each page')
  }
  if (!timingSafeEqual(bytes.subarray(-CURSOR_MAC_BYTES), authenticate(payload, filterHash, context))) {
    throw invalidCursor('was altered, or given by another database; begin again without a cursor')
  }
  const integer = (i: number) => payload.readUIntBE(FILTER_BYTES + i * INTEGER_BYTES, INTEGER_BYTES)
  const cursor = { nextIndex: integer(0), toBlock: integer(1), seenBlock: integer(2) }
  refuseReorg(payload.subarray(HASHES_AT), cursor.seenBlock, context.chain)
  requireWithinHead(cursor.toBlock, context.chain)
  return cursor
}

function invalidCursor(problem: string): RpcError {
  return invalidParams(`invalid argument 1: cursor: ${problem}`)
}

/** The MAC over the payload and the full hash of the filter. */
function authenticate(payload: Uint8Array, filterHash: Uint8Array, { cursorSecret }: CursorContext): Uint8Array {
  return authenticateCursor(cursorSecret, [LAYOUT, payload, filterHash])
}

/** @throws RpcError naming the first block that was replaced since the cursor was issued. */
function refuseReorg(hashes: Uint8Array, seenBlock: number, chain: ChainReader): void {
  let forkBlock: number | undefined
  const { first, head } = chain.coverage() ?? { first: 0, head: -1 }
  for (let i = Math.max(0, seenBlock - head); (i + 1) * HASH_BYTES <= hashes.length; i++) {
    if (seenBlock - i < first) break
    const held = chain.blockHash(seenBlock - i)
    const seen = hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)
    if (held && equalBytes(held.subarray(-HASH_BYTES), seen)) break
    forkBlock = seenBlock - i
  }
  if (forkBlock !== undefined) throw reorganisedBelowCursor(forkBlock)
}

/** SHA-256 of the normalised filter. */
function hashFilter({ addresses, topics, fromBlock, toBlock, blockHash }: LogFilterObject): Uint8Array {
  const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')
  const plain = [
    addresses.map(hex),
    topics.map((values) => values?.map(hex) ?? null),
    fromBlock,
    toBlock,
    hex(blockHash),
  ]
  return createHash('sha256').update(JSON.stringify(plain)).digest()
}
