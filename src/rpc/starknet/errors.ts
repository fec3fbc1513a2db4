import type { L2Reader } from '../../store/l2/l2Reader.js'
import { RpcError } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/** Errors of the Starknet specification (starknet-specs, starknet_api_openrpc.json, components/errors). */
export const BLOCK_NOT_FOUND: ErrorDoc = { code: 24, message: 'Block not found' }
export const NO_BLOCKS: ErrorDoc = { code: 32, message: 'There are no blocks' }

const NO_LAYER_2 = "the database holds no layer-2 blocks; import some with 'cairn import PATH...'"

/** An error to throw for one of the above; its `data` says so if there is no layer-2 block at all. */
export function starknetError({ code, message }: ErrorDoc, l2: L2Reader): RpcError {
  const isEmpty = l2.head() === undefined && l2.pending() === undefined
  return new RpcError(code, message, isEmpty ? NO_LAYER_2 : undefined)
}
