import type { JsonSchema } from '../core/method.js'
import { orNull } from '../eth/schemas.js'

/** A call, creation, SELFDESTRUCT or reward. */
export const FLAT_TRACE_SCHEMA: JsonSchema = {
  title: 'trace',
  type: 'object',
  properties: {
    action: { type: 'object' },
    error: { type: 'string' },
    result: orNull({ type: 'object' }),
    subtraces: { type: 'integer' },
    traceAddress: { type: 'array', items: { type: 'integer' } },
    type: { type: 'string', enum: ['call', 'create', 'suicide', 'reward'] },
  },
  required: ['action', 'subtraces', 'traceAddress', 'type'],
}

/** The traces of a list. */
export const FLAT_TRACES_SCHEMA: JsonSchema = { type: 'array', items: FLAT_TRACE_SCHEMA }

/** The result of a replay. */
export const REPLAY_SCHEMA: JsonSchema = {
  title: 'replay',
  type: 'object',
  properties: {
    output: { type: 'string' },
    stateDiff: orNull({ type: 'object' }),
    trace: FLAT_TRACES_SCHEMA,
    vmTrace: orNull({ type: 'object' }),
  },
  required: ['output', 'stateDiff', 'trace', 'vmTrace'],
}
