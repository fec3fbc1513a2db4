import { HEADER_NOT_FOUND } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockOverridesParam, requireCallOverrides } from '../eth/blockOverrides.js'
import { callParam, requestForChain } from '../eth/callObject.js'
import { stateBlockParam } from '../eth/commonParams.js'
import { stateOverridesParam } from '../eth/stateOverrides.js'
import { traceKindsParam } from './replayResult.js'
import { REPLAY_SCHEMA } from './schemas.js'
import { TRACED_CALL_ERRORS, traceCalls } from './traceCalls.js'

export const traceCall = defineMethod({
  name: 'trace_call',
  summary: 'Calls, state changes and instructions of a message call on the state after a block.',
  description:
    'The call is that of `eth_call`, with its limits and overrides; the result that of `trace_replayTransaction`.',
  cost: 'evm',
  classes: ['calls', 'traces'],
  takesCall: true,
  isTrace: true,
  params: [callParam, traceKindsParam, stateBlockParam, stateOverridesParam, blockOverridesParam],
  result: { name: 'replay', schema: REPLAY_SCHEMA },
  errors: [HEADER_NOT_FOUND, ...TRACED_CALL_ERRORS],
  handler: async (context, call, kinds, id, accounts, block) => {
    const overrides = { accounts, block: requireCallOverrides(block) }
    const request = requestForChain(context.chain, call)
    const [result] = await traceCalls(context, { id, overrides }, [{ request, kinds }])
    return result
  },
})
