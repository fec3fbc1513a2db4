import { HEADER_NOT_FOUND } from '../core/blockId.js'
import { InvalidValue } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { invalidValue, required, type ValueType } from '../core/params.js'
import { type CallObject, callParam, requestForChain } from '../eth/callObject.js'
import { stateBlockParam } from '../eth/commonParams.js'
import { type Kind, traceKinds } from './replayResult.js'
import { REPLAY_SCHEMA } from './schemas.js'
import { TRACED_CALL_ERRORS, traceCalls } from './traceCalls.js'

/** Calls of one `trace_callMany`. */
const MAX_CALLS = 100

const callWithKinds: ValueType<{ call: CallObject; kinds: Kind[] }> = {
  schema: { type: 'array', prefixItems: [callParam.schema, traceKinds.schema], minItems: 2, maxItems: 2 },
  decode: (value, path) => {
    if (!Array.isArray(value) || value.length !== 2) throw invalidValue(path, 'a call and its trace types', value)
    return { call: callParam.decode(value[0], `${path}[0]`), kinds: traceKinds.decode(value[1], `${path}[1]`) }
  },
}

const calls: ValueType<{ call: CallObject; kinds: Kind[] }[]> = {
  schema: { type: 'array', items: callWithKinds.schema, maxItems: MAX_CALLS },
  decode: (value, path) => {
    if (!Array.isArray(value)) throw invalidValue(path, 'an array', value)
    if (value.length > MAX_CALLS) throw new InvalidValue(`${path}: ${value.length} calls, the limit is ${MAX_CALLS}`)
    return value.map((each, i) => callWithKinds.decode(each, `${path}[${i}]`))
  },
}

export const callMany = defineMethod({
  name: 'trace_callMany',
  summary: 'The same for several calls, each on the state that the one before has left.',
  description: `At most ${MAX_CALLS} calls.`,
  cost: 'evm',
  classes: ['calls', 'traces'],
  isTrace: true,
  params: [required('calls', calls, 'pairs of a call and its trace types'), stateBlockParam],
  result: { name: 'replays', schema: { type: 'array', items: REPLAY_SCHEMA } },
  errors: [HEADER_NOT_FOUND, ...TRACED_CALL_ERRORS],
  handler: (context, list, id) =>
    traceCalls(
      context,
      { id },
      list.map(({ call, kinds }) => ({ request: requestForChain(context.chain, call), kinds })),
    ),
})
