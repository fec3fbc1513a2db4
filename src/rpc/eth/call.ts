import { encodeDataJson } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { SERVER_ERROR } from '../core/errors.js'
import { defineMethod, JsonBytes } from '../core/method.js'
import { data } from '../core/params.js'
import { blockOverridesParam } from './blockOverrides.js'
import { CALL_CACHING, callCostKey } from './callCacheKey.js'
import { CALL_ERRORS, CALL_REFUSED, callParam, overriddenRequest } from './callObject.js'
import { stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'
import { stateOverridesParam } from './stateOverrides.js'

export const call = defineMethod({
  name: 'eth_call',
  summary: 'Executes a message call on the state after a block, without a transaction.',
  description:
    'A missing `from` is the zero address. `gas` is clamped to 10 times the gas limit of the block and to 2,000 million. ' +
    'Fees are paid before the call runs; without fee fields BASEFEE is 0. `data` of a revert is the revert data; ' +
    '`Error(string)` and `Panic(uint256)` are also decoded in the message. State overrides apply before the call, block ' +
    'overrides replace what it sees of its block; an overridden number or time selects the fork.',
  cost: 'evm',
  classes: ['calls'],
  takesCall: true,
  params: [callParam, stateBlockParam, stateOverridesParam, blockOverridesParam],
  result: { name: 'return data', schema: data.schema },
  errors: [
    ...CALL_ERRORS,
    { code: SERVER_ERROR, message: 'out of gas' },
    CALL_REFUSED,
    { code: SERVER_ERROR, message: 'return data of … bytes exceeds the limit of 10000000' },
    ...STATE_ERRORS,
  ],
  caching: CALL_CACHING,
  costKey: callCostKey,
  handler: ({ chain, evm, limits, deadline, blocks }, object, id, accounts, block) => {
    const request = overriddenRequest(chain, object, { accounts, block })
    const output = evm.call(request, blocks?.toBlock ?? requireStateBlock(chain, id), limits, deadline)
    return new JsonBytes(encodeDataJson(output))
  },
})
