import { formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity64 } from '../core/params.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'

export const getTransactionCount = defineMethod({
  name: 'eth_getTransactionCount',
  summary: 'Nonce of an account after a block.',
  cost: 'point',
  params: [accountParam, stateBlockParam],
  result: { name: 'nonce', schema: quantity64.schema },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => formatQuantity(state.nonce(address, requireStateBlock(chain, id))),
})
