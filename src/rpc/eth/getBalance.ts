import { formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { STATE_ERRORS } from './schemas.js'

export const getBalance = defineMethod({
  name: 'eth_getBalance',
  summary: 'Balance of an account in wei after a block.',
  cost: 'point',
  params: [accountParam, stateBlockParam],
  result: { name: 'balance', schema: quantity.schema },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => formatQuantity(state.balance(address, requireStateBlock(chain, id))),
})
