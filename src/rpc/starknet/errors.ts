import type { L2Reader } from '../../store/l2/l2Reader.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/** Errors of the Starknet specification (starknet-specs, starknet_api_openrpc.json, components/errors). */
export const BLOCK_NOT_FOUND: ErrorDoc = { code: 24, message: 'Block not found' }
export const INVALID_TRANSACTION_INDEX: ErrorDoc = { code: 27, message: 'Invalid transaction index in a block' }
export const TRANSACTION_NOT_FOUND: ErrorDoc = { code: 29, message: 'Transaction hash not found' }
export const PAGE_TOO_BIG: ErrorDoc = { code: 31, message: 'Requested page size is too big' }
export const NO_BLOCKS: ErrorDoc = { code: 32, message: 'There are no blocks' }
export const INVALID_CONTINUATION_TOKEN: ErrorDoc = {
  code: 33,
  message: 'The supplied continuation token is invalid or unknown',
}
export const TOO_MANY_KEYS: ErrorDoc = { code: 34, message: 'Too many keys provided in a filter' }

/** Not in the specification: the database has only a part of the block. */
export const PART_UNAVAILABLE: ErrorDoc = {
  code: SERVER_ERROR,
  message: 'layer-2 block N is stored without <transactions>; import a recording of …',
}

/* Errors of its WebSocket part (starknet_ws_api.json), the last one of the release candidates for 0.8. */
export const INVALID_SUBSCRIPTION_ID: ErrorDoc = { code: 66, message: 'Invalid subscription id' }
export const TOO_MANY_BLOCKS_BACK: ErrorDoc = {
  code: 68,
  message: 'Cannot go back more than 1024 blocks',
  when: 'the block is more than 1,024 below the head',
}
export const CALL_ON_PENDING: ErrorDoc = {
  code: 69,
  message: 'This method does not support being called on the pending block',
}

const NO_LAYER_2 = "the database holds no layer-2 blocks; import some with 'cairn import PATH...'"

/** Returns one of the errors above to throw; its `data` reports a database without layer-2 blocks. */
export function starknetError({ code, message }: ErrorDoc, l2: L2Reader): RpcError {
  const isEmpty = l2.head() === undefined && l2.pending() === undefined
  return new RpcError(code, message, isEmpty ? NO_LAYER_2 : undefined)
}
