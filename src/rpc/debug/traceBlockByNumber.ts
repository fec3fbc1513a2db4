import { BLOCK_UNAVAILABLE, findBlock, resolveNumber } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { blockNumberOrTag, required } from '../core/params.js'
import { BLOCK_TRACE_RESULT, traceBlock } from './traceBlock.js'
import { traceConfigParam } from './traceConfig.js'
import { GENESIS_ERROR, TRACE_ERRORS } from './traceErrors.js'

export const traceBlockByNumber = defineMethod({
  name: 'debug_traceBlockByNumber',
  summary: 'Traces of all transactions of a block, by executing it again.',
  description: 'As `debug_traceTransaction`, with the hash of each transaction. `pending` is the head.',
  cost: 'evm',
  isTrace: true,
  params: [required('block', blockNumberOrTag, 'block number or tag'), traceConfigParam],
  result: BLOCK_TRACE_RESULT,
  errors: [{ code: SERVER_ERROR, message: 'block #N not found' }, GENESIS_ERROR, BLOCK_UNAVAILABLE, ...TRACE_ERRORS],
  handler: (context, id, config) => {
    const find = () => {
      const block = findBlock(context.chain, id)
      if (block !== undefined) return block
      throw new RpcError(SERVER_ERROR, `block #${resolveNumber(context.chain, id) ?? id} not found`)
    }
    return traceBlock(context, find, config)
  },
})
