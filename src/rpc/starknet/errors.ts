import { RpcError } from '../errors.js'
import type { ErrorDoc } from '../method.js'

/** Errors of the Starknet specification (starknet-specs, starknet_api_openrpc.json, components/errors). */
export const BLOCK_NOT_FOUND: ErrorDoc = { code: 24, message: 'Block not found' }
export const NO_BLOCKS: ErrorDoc = { code: 32, message: 'There are no blocks' }

/** The error to throw for one of the above. */
export function starknetError({ code, message }: ErrorDoc): RpcError {
  return new RpcError(code, message)
}
