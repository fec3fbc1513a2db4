import { EmptyDatabase } from '../../store/rows/chainReader.js'
import type { RpcContext } from './context.js'
import { RpcError, SERVER_ERROR } from './errors.js'
import type { ErrorDoc, Method } from './method.js'

/** Error of Ethereum methods for a database with layer-2 blocks only. */
export const LAYER_2_ONLY: ErrorDoc = {
  code: SERVER_ERROR,
  message:
    'the database holds layer-2 blocks only, no Ethereum blocks; import some with ' +
    "'cairn import --network NAME PATH...' or 'cairn import --genesis FILE PATH...'",
}

/** Wraps a method so that it fails with one error while the database has no Ethereum block: null would mean that the
 *  chain has no such object. Returns a `chainless` method as it is. */
export function requiringChain(method: Method): Method {
  if (method.chainless) return method
  const { caching } = method
  return {
    ...method,
    caching: caching && {
      ...caching,
      resolveBlocks: (context, call) => {
        requireBlocks(context)
        return caching.resolveBlocks(context, call)
      },
    },
    handler: (context, ...params) => {
      requireBlocks(context)
      return method.handler(context, ...params)
    },
  }
}

/** @throws EmptyDatabase if nothing was imported, RpcError if only layer-2 blocks were. */
function requireBlocks({ chain, l2 }: RpcContext): void {
  if (chain.holdsBlocks()) return
  if (l2.head() === undefined && l2.pending() === undefined) throw new EmptyDatabase()
  throw new RpcError(LAYER_2_ONLY.code, LAYER_2_ONLY.message)
}
