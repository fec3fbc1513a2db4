import { type Felt, formatFelt, parseFelt } from '../../chain/starknet/felt.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import { INVALID_CONTINUATION_TOKEN, starknetError } from './errors.js'

/** Start of the next page of events, and the newest confirmed block that the previous pages have seen. */
export interface EventPosition {
  readonly blockNumber: number
  /** Index of the first event among those of the block. */
  readonly eventIndex: number
  readonly seen: { readonly number: number; readonly hash: Felt }
}

/** A continuation token: `blockNumber-eventIndex-seenNumber-seenHash`. */
export function encodeToken({ blockNumber, eventIndex, seen }: EventPosition): string {
  return `${blockNumber}-${eventIndex}-${seen.number}-${formatFelt(seen.hash)}`
}

/** Decodes a token. @throws RpcError 33 if it is malformed, or if a reorg removed blocks that its pages have seen */
export function decodeToken(token: string, l2: L2Reader): EventPosition {
  const [, blockNumber, eventIndex, number, hash] =
    /^(\d{1,15})-(\d{1,9})-(\d{1,15})-(0x[0-9a-f]{1,64})$/.exec(token) ?? []
  const seenHash = hash === undefined ? undefined : parseFelt(hash)
  if (seenHash === undefined || l2.blockByNumber(Number(number))?.hash !== seenHash) {
    throw starknetError(INVALID_CONTINUATION_TOKEN, l2)
  }
  return {
    blockNumber: Number(blockNumber),
    eventIndex: Number(eventIndex),
    seen: { number: Number(number), hash: seenHash },
  }
}
