import type { Transaction } from '../../chain/eth/types.js'
import { formatData } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import type { JsonBytes } from '../core/method.js'
import { hash32 } from '../core/params.js'
import { TRACE_SCHEMA } from './schemas.js'
import { type TraceConfig, traceDeadline } from './traceConfig.js'
import { requireTraceable } from './traceErrors.js'
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

/** Traces of all transactions of a stored block. */
export async function traceBlock(
  context: RpcContext,
  find: () => StoredBlock,
  config: TraceConfig,
): Promise<JsonBytes> {
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
