import { formatData } from '../../lib/hex.js'
import { findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { hash32, required } from '../core/params.js'
import { BLOCK_TRACE_RESULT, traceBlock } from './traceBlock.js'
import { traceConfigParam } from './traceConfig.js'
import { GENESIS_ERROR, TRACE_ERRORS } from './traceErrors.js'

export const traceBlockByHash = defineMethod({
  name: 'debug_traceBlockByHash',
  summary: 'Traces of all transactions of the block with that hash, by executing it again.',
  description: 'As `debug_traceBlockByNumber`.',
  cost: 'evm',
  isTrace: true,
  params: [required('blockHash', hash32, 'block hash'), traceConfigParam],
  result: BLOCK_TRACE_RESULT,
  errors: [{ code: SERVER_ERROR, message: 'block 0x… not found' }, GENESIS_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: (context, hash, config) => {
    const find = () => {
      const block = findBlock(context.chain, { hash, requireCanonical: true })
      if (block !== undefined) return block
      throw new RpcError(SERVER_ERROR, `block ${formatData(hash)} not found`)
    }
    return traceBlock(context, find, config)
  },
})
