import type { CallOverrides } from '../../evm/calls/overrides.js'
import { findBlock, HEADER_NOT_FOUND, requireStateBlock } from '../core/blockId.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { index, maybe, objectOf, optional, type ValueType } from '../core/params.js'
import { blockOverrides, requireCallOverrides } from '../eth/blockOverrides.js'
import { CALL_REFUSED, callParam, requestForChain } from '../eth/callObject.js'
import { stateBlockParam } from '../eth/commonParams.js'
import { stateOverrides } from '../eth/stateOverrides.js'
import { TRACE_SCHEMA } from './schemas.js'
import { DEFAULT_CONFIG, type TraceConfig, traceConfig, traceDeadline } from './traceConfig.js'
import { TRACE_ERRORS } from './traceErrors.js'
import { writeTrace } from './tracers/tracers.js'

/** How a call is to be traced. */
interface TraceCallConfig extends TraceConfig {
  readonly overrides?: CallOverrides
  /** On the state before this transaction of the block. */
  readonly transactionIndex?: number
}

const members = objectOf({
  stateOverrides: maybe(stateOverrides),
  blockOverrides: maybe(blockOverrides),
  txIndex: maybe(index),
})

const traceCallConfig: ValueType<TraceCallConfig> = {
  schema: {
    ...traceConfig.schema,
    properties: { ...(traceConfig.schema.properties as object), ...(members.schema.properties as object) },
  },
  decode: (value, path) => {
    const { stateOverrides: accounts, blockOverrides: block, txIndex } = members.decode(value, path)
    const overrides = { accounts, block: requireCallOverrides(block) }
    return { ...traceConfig.decode(value, path), overrides, transactionIndex: txIndex }
  },
}

export const traceCall = defineMethod({
  name: 'debug_traceCall',
  summary: 'Trace of a message call on the state after a block, without a transaction.',
  description:
    'The call is that of `eth_call`, with its limits; the configuration that of `debug_traceTransaction`, with `stateOverrides`, ' +
    '`blockOverrides`, and `txIndex`: the call is then made on the state before that transaction of the block.',
  cost: 'evm',
  isTrace: true,
  params: [
    callParam,
    stateBlockParam,
    optional<TraceCallConfig>(
      'config',
      traceCallConfig,
      'as for `debug_traceTransaction`, and `stateOverrides`, `blockOverrides`, `txIndex`',
      DEFAULT_CONFIG,
    ),
  ],
  result: { name: 'trace', schema: TRACE_SCHEMA },
  errors: [HEADER_NOT_FOUND, ...TRACE_ERRORS, CALL_REFUSED],
  handler: async (context, call, id, config) => {
    const { chain, limits } = context
    const traces = await context.loadTraces()
    const request = requestForChain(chain, call)
    const block = findBlock(chain, requireStateBlock(chain, id))!
    const out = createJsonOutput(context.sendPart)
    const { transactionIndex, overrides, tracer } = config
    const terms = { transactionIndex, overrides, limits, deadline: traceDeadline(context.deadline, config) }
    traces.calls(block, terms, (executionOf) => writeTrace(out, tracer, executionOf(request)))
    return out.end()
  },
})
