import type { L2Reader } from '../../store/l2/l2Reader.js'
import { RpcError } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/** Errors of the Starknet specification (starknet-specs, starknet_api_openrpc.json, components/errors). */
export const BLOCK_NOT_FOUND: ErrorDoc = { code: 24, message: 'Block not found' }
export const NO_BLOCKS: ErrorDoc = { code: 32, message: 'There are no blocks' }

/* Errors of its WebSocket part (starknet_ws_api.json), the last one of the release candidates for 0.8. */
export const INVALID_SUBSCRIPTION_ID: ErrorDoc = { code: 66, message: 'Invalid subscription id' }
export const TOO_MANY_BLOCKS_BACK: ErrorDoc = { code: 68, message: 'Cannot go back more than 1024 blocks' }
export const CALL_ON_PENDING: ErrorDoc = {
  code: 69,
  message: 'This method does not support being called on the pending block',
}

const NO_LAYER_2 = "the database holds no layer-2 blocks; import some with 'cairn import PATH...'"

/** An error to throw for one of the above; its `data` says so if there is no layer-2 block at all. */
export function starknetError({ code, message }: ErrorDoc, l2: L2Reader): RpcError {
  const isEmpty = l2.head() === undefined && l2.pending() === undefined
  return new RpcError(code, message, isEmpty ? NO_LAYER_2 : undefined)
}
