import { createHash } from 'node:crypto'
import { equalBytes } from '../../lib/bytes.js'
import type { ChainReader } from '../../store/chainReader.js'
import { invalidParams, RpcError, SERVER_ERROR } from '../errors.js'
import type { LogFilterObject } from './logFilter.js'

/** Where a paged log query goes on. As text it is base64url of: 8 bytes of the filter's hash, then as 48-bit big-endian
 *  integers the next log id, the number of the query's last block and that of the newest block whose logs were looked at,
 *  then the last 4 bytes of the hashes of that block and of those before it. */
export interface LogCursor {
  nextId: number
  /** The query's last block; fixed by the first page. */
  toBlock: number
  /** The newest block that pages so far have looked into. */
  seenBlock: number
}

const FILTER_BYTES = 8
const INTEGER_BYTES = 6
const HASHES_AT = FILTER_BYTES + 3 * INTEGER_BYTES
const HASH_BYTES = 4
// So deep a reorg is told to the block; of a deeper one only that it is deeper.
const HASHES_KEPT = 64

/** The text of a cursor for the filter, with the hashes of the chain as it is. */
export function encodeCursor(cursor: LogCursor, filter: LogFilterObject, chain: ChainReader): string {
  const { nextId, toBlock, seenBlock } = cursor
  const out = Buffer.alloc(HASHES_AT + HASHES_KEPT * HASH_BYTES)
  out.set(hashFilter(filter), 0)
  for (const [i, value] of [nextId, toBlock, seenBlock].entries()) {
    out.writeUIntBE(value, FILTER_BYTES + i * INTEGER_BYTES, INTEGER_BYTES)
  }
  let end = HASHES_AT
  for (let number = seenBlock; end < out.length; number--, end += HASH_BYTES) {
    const hash = chain.blockHash(number)
    if (!hash) break
    out.set(hash.subarray(-HASH_BYTES), end)
  }
  return out.subarray(0, end).toString('base64url')
}

/** The cursor of a text.
 *  @throws RpcError when it is none, or that of another filter, or when a block that it has seen was replaced. */
export function decodeCursor(text: string, filter: LogFilterObject, chain: ChainReader): LogCursor {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < HASHES_AT + HASH_BYTES || bytes.toString('base64url') !== text) {
    throw invalidParams(
      `invalid argument 1: cursor: expected one that eth_getLogsWithCursor gave, got ${JSON.stringify(text.slice(0, 60))}`,
    )
  }
  if (!equalBytes(bytes.subarray(0, FILTER_BYTES), hashFilter(filter))) {
    throw invalidParams('invalid argument 1: cursor: is of another filter; send the same filter with each page')
  }
  const integer = (i: number) => bytes.readUIntBE(FILTER_BYTES + i * INTEGER_BYTES, INTEGER_BYTES)
  const cursor = { nextId: integer(0), toBlock: integer(1), seenBlock: integer(2) }
  refuseReorg(bytes.subarray(HASHES_AT), cursor.seenBlock, chain)
  return cursor
}

/** @throws RpcError that names the first block which is another than when the cursor was given. */
function refuseReorg(hashes: Uint8Array, seenBlock: number, chain: ChainReader): void {
  let forkBlock: number | undefined
  for (let i = 0; (i + 1) * HASH_BYTES <= hashes.length; i++) {
    const held = chain.blockHash(seenBlock - i)
    const seen = hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)
    if (held && equalBytes(held.subarray(-HASH_BYTES), seen)) break
    forkBlock = seenBlock - i
  }
  if (forkBlock === undefined) return
  throw new RpcError(
    SERVER_ERROR,
    `the chain was reorganised below the cursor: block ${forkBlock} is another one now`,
    {
      forkBlock: `0x${forkBlock.toString(16)}`,
    },
  )
}

function hashFilter({ addresses, topics, fromBlock, toBlock, blockHash }: LogFilterObject): Uint8Array {
  const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')
  const plain = [
    addresses.map(hex),
    topics.map((values) => values?.map(hex) ?? null),
    fromBlock,
    toBlock,
    hex(blockHash),
  ]
  return createHash('sha256').update(JSON.stringify(plain)).digest().subarray(0, FILTER_BYTES)
}
