import { formatData, formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { ACCOUNT_INFO_SCHEMA, STATE_ERRORS } from './schemas.js'

export const getAccountInfo = defineMethod({
  name: 'eth_getAccountInfo',
  summary: 'Balance, nonce and code of an account after a block.',
  description: "reth's method: a fork of anvil reads an account with it in one request.",
  cost: 'point',
  params: [accountParam, stateBlockParam],
  result: { name: 'account', schema: ACCOUNT_INFO_SCHEMA },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => {
    const number = requireStateBlock(chain, id)
    return {
      balance: formatQuantity(state.balance(address, number)),
      nonce: formatQuantity(state.nonce(address, number)),
      code: formatData(state.code(address, number)),
    }
  },
})
