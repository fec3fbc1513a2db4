import type { StoredBlock } from '../../store/rows/types.js'
import { requireNoGap, STATE_UNAVAILABLE } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { RESPONSE_TOO_LARGE, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/** Errors of all traces. */
export const TRACE_ERRORS: readonly ErrorDoc[] = [
  { code: SERVER_ERROR, message: 'execution aborted (timeout = 60s)', when: 'the trace takes longer' },
  {
    code: SERVER_ERROR,
    message: 'out of memory budget: the call needs more than 268435456 bytes',
    when: 'a transaction needs more than `--call-memory`',
  },
  { code: RESPONSE_TOO_LARGE, message: 'response too large', when: 'the answers of a batch exceed 25 MB' },
  STATE_UNAVAILABLE,
]

/** Additional errors of traces of stored transactions. */
export const GENESIS_ERROR: ErrorDoc = { code: SERVER_ERROR, message: 'genesis is not traceable' }
/** For a hash of no stored transaction. */
export const TRANSACTION_ERROR: ErrorDoc = { code: SERVER_ERROR, message: 'transaction not found' }

/** The block, which has a parent. @throws RpcError for the genesis */
export function requireTraceable(block: StoredBlock): StoredBlock {
  if (block.header.number === 0) throw new RpcError(GENESIS_ERROR.code, GENESIS_ERROR.message)
  return block
}

/** Location of the transaction. @throws RpcError if it does not exist */
export function requireTracedTransaction(
  { chain, transactions }: RpcContext,
  hash: Uint8Array,
): { block: StoredBlock; index: number } {
  const location = transactions.locate(hash)
  const block = location && chain.blockByNumber(location.blockNumber)
  if (block) return { block: requireTraceable(block), index: location.index }
  requireNoGap(chain)
  throw new RpcError(TRANSACTION_ERROR.code, TRANSACTION_ERROR.message)
}
