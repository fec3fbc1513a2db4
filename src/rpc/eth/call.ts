import { encodeDataJson } from '../../lib/hex.js'
import { mapMaybePromise } from '../../lib/maybePromise.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod, JsonBytes } from '../core/method.js'
import { data } from '../core/params.js'
import { CALL_CACHING, callCostKey } from './callCacheKey.js'
import { CALL_ERRORS, callParam, requestForChain } from './callObject.js'
import { stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'
import { stateOverridesParam } from './stateOverrides.js'

export const call = defineMethod({
  name: 'eth_call',
  summary: 'What a message call returns on top of a block, without a transaction.',
  description:
    'A missing `from` is the zero address. `gas` above 10 times the gas limit of the block, or above ' +
    '2,000 million, is clamped to that. Fees are paid before the call runs, and without fee fields BASEFEE is 0. The ' +
    '`data` of a revert is what the contract gave; `Error(string)` and `Panic(uint256)` are in the message too.',
  cost: 'evm',
  params: [callParam, stateBlockParam, stateOverridesParam],
  result: { name: 'return data', schema: data.schema },
  errors: [...CALL_ERRORS, ...STATE_ERRORS],
  caching: CALL_CACHING,
  costKey: callCostKey,
  handler: ({ chain, evm, limits, deadline, blocks }, object, id) => {
    const request = requestForChain(chain, object)
    const output = evm.call(request, blocks?.toBlock ?? requireStateBlock(chain, id), limits, deadline)
    return mapMaybePromise(output, (bytes) => new JsonBytes(encodeDataJson(bytes)))
  },
})
