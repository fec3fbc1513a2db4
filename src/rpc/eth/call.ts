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
  summary: 'Executes a message call on the state after a block, without a transaction.',
  description:
    'A missing `from` is the zero address. `gas` is clamped to 10 times the gas limit of the block and to 2,000 million. ' +
    'Fees are paid before the call runs; without fee fields BASEFEE is 0. `data` of a revert is the revert data; ' +
    '`Error(string)` and `Panic(uint256)` are also decoded in the message.',
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
