import type { Transaction } from '../../chain/eth/types.js'
import { formatData } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE, resolveNumber } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod, type JsonBytes } from '../core/method.js'
import { blockNumberOrTag, hash32, required } from '../core/params.js'
import { TRACE_SCHEMA } from './schemas.js'
import { type TraceConfig, traceConfigParam, traceDeadline } from './traceConfig.js'
import { GENESIS_ERROR, requireTraceable, TRACE_ERRORS } from './traceErrors.js'
import { writeTrace } from './tracers/tracers.js'

/** The result of the methods that trace a block. */
export const BLOCK_TRACE_RESULT = {
  name: 'traces',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      properties: { txHash: hash32.schema, result: TRACE_SCHEMA },
      required: ['txHash', 'result'],
    },
  },
}

export const traceBlockByNumber = defineMethod({
  name: 'debug_traceBlockByNumber',
  summary: 'Traces of all transactions of a block, by executing it again.',
  description: 'As `debug_traceTransaction`, with the hash of each transaction. `pending` is the head.',
  cost: 'evm',
  classes: ['traces'],
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

export const traceBlockByHash = defineMethod({
  name: 'debug_traceBlockByHash',
  summary: 'Traces of all transactions of the block with that hash, by executing it again.',
  description: 'As `debug_traceBlockByNumber`.',
  cost: 'evm',
  classes: ['traces'],
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

/** Traces of all transactions of a stored block. */
async function traceBlock(context: RpcContext, find: () => StoredBlock, config: TraceConfig): Promise<JsonBytes> {
  await context.loadTraces()
  return writeBlockTraces(context, { block: requireTraceable(find()) }, config)
}

/** Traces all transactions of a block, which need not be stored: `transactions` are its transactions. */
export async function writeBlockTraces(
  context: RpcContext,
  { block, transactions }: { block: StoredBlock; transactions?: readonly Transaction[] },
  config: TraceConfig,
): Promise<JsonBytes> {
  const traces = await context.loadTraces()
  const out = createJsonOutput(context.sendPart)
  const deadline = traceDeadline(context.deadline, config)
  const range = { deadline, memoryBytes: context.limits.callMemoryBytes, transactions }
  out.write('[')
  traces.replay(block, range, (execution) => {
    const { index, transaction } = execution
    out.write(`${index === 0 ? '' : ','}{"txHash":"${formatData(transaction.hash)}","result":`)
    writeTrace(out, config.tracer, execution, { block, index, hash: transaction.hash })
    out.write('}')
  })
  out.write(']')
  return out.end()
}
