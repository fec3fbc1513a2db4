import type { CallOverrides } from '../../evm/calls/overrides.js'
import { findBlock, HEADER_NOT_FOUND, requireStateBlock } from '../core/blockId.js'
import { SERVER_ERROR } from '../core/errors.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { index, maybe, optional, type ValueType } from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { blockOverrides, requireCallOverrides } from '../eth/blockOverrides.js'
import { CALL_REFUSED, callParam, requestForChain } from '../eth/callObject.js'
import { stateBlockParam } from '../eth/commonParams.js'
import { stateOverrides } from '../eth/stateOverrides.js'
import { TRACE_SCHEMA } from './schemas.js'
import { CONFIG_FIELDS, DEFAULT_CONFIG, readConfig, type TraceConfig, traceDeadline } from './traceConfig.js'
import { TRACE_ERRORS } from './traceErrors.js'
import { writeTrace } from './tracers/tracers.js'

/** How to trace a call. */
interface TraceCallConfig extends TraceConfig {
  readonly overrides?: CallOverrides
  /** On the state before this transaction of the block. */
  readonly transactionIndex?: number
}

const members = strictObject(
  {
    ...CONFIG_FIELDS,
    stateOverrides: maybe(stateOverrides),
    blockOverrides: maybe(blockOverrides),
    txIndex: maybe(index),
  },
  { title: 'trace configuration' },
)

const traceCallConfig: ValueType<TraceCallConfig> = {
  schema: members.schema,
  decode: (value, path) => {
    const { stateOverrides: accounts, blockOverrides: block, txIndex, ...config } = members.decode(value, path)
    const overrides = { accounts, block: requireCallOverrides(block) }
    return { ...readConfig(config, path), overrides, transactionIndex: txIndex }
  },
}

const INDEX_OUT_OF_RANGE = { code: SERVER_ERROR, message: 'transaction index N out of range for block …' } as const
const NO_TRANSACTION = { code: SERVER_ERROR, message: 'no transaction in genesis' } as const

export const traceCall = defineMethod({
  name: 'debug_traceCall',
  summary: 'Trace of a message call on the state after a block, without a transaction.',
  description:
    'The call is that of `eth_call`, with its limits; the configuration that of `debug_traceTransaction`, with `stateOverrides`, ' +
    '`blockOverrides`, and `txIndex`: the call is then made on the state before that transaction of the block.',
  cost: 'evm',
  classes: ['calls', 'traces'],
  takesCall: true,
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
  errors: [HEADER_NOT_FOUND, INDEX_OUT_OF_RANGE, NO_TRANSACTION, ...TRACE_ERRORS, CALL_REFUSED],
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
