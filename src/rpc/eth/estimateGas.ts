import { formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { quantity64 } from '../core/params.js'
import { blockOverridesParam } from './blockOverrides.js'
import { CALL_CACHING, callCostKey } from './callCacheKey.js'
import { CALL_ERRORS, callParam, overriddenRequest } from './callObject.js'
import { stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'
import { stateOverridesParam } from './stateOverrides.js'

export const estimateGas = defineMethod({
  name: 'eth_estimateGas',
  summary: 'A gas limit with which the call succeeds on the state after a block.',
  description:
    'Found by binary search, as in geth: at most 1.5 % above the minimum. `gas` is clamped to 10 times the gas limit of ' +
    'the block and to 2,000 million; in Osaka also to 16,777,216 (EIP-7825). Overrides are those of `eth_call`.',
  cost: 'evm',
  classes: ['calls'],
  takesCall: true,
  params: [callParam, stateBlockParam, stateOverridesParam, blockOverridesParam],
  result: { name: 'gas limit', schema: quantity64.schema },
  errors: [
    ...CALL_ERRORS,
    { code: SERVER_ERROR, message: 'failed with … gas: …' },
    { code: SERVER_ERROR, message: 'gas required exceeds allowance (…)' },
    ...STATE_ERRORS,
  ],
  caching: CALL_CACHING,
  costKey: callCostKey,
  handler: ({ chain, evm, limits, deadline, blocks }, object, id, accounts, block) => {
    const request = overriddenRequest(chain, object, { accounts, block })
    const number = blocks?.toBlock ?? requireStateBlock(chain, id)
    return formatQuantity(evm.estimateGas(request, number, limits, deadline))
  },
})
