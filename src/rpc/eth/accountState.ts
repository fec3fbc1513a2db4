import { formatData, formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data, quantity, quantity64 } from '../core/params.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { ACCOUNT_INFO_SCHEMA, STATE_ERRORS } from './schemas.js'

export const getBalance = defineMethod({
  name: 'eth_getBalance',
  summary: 'Balance of an account in wei after a block.',
  cost: 'point',
  classes: ['state'],
  params: [accountParam, stateBlockParam],
  result: { name: 'balance', schema: quantity.schema },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => formatQuantity(state.balance(address, requireStateBlock(chain, id))),
})

export const getCode = defineMethod({
  name: 'eth_getCode',
  summary: 'Code of an account after a block; `0x` when it has none.',
  description: 'For a delegating account (EIP-7702): the delegation designator.',
  cost: 'point',
  classes: ['state'],
  params: [accountParam, stateBlockParam],
  result: { name: 'code', schema: data.schema },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => formatData(state.code(address, requireStateBlock(chain, id))),
})

export const getTransactionCount = defineMethod({
  name: 'eth_getTransactionCount',
  summary: 'Nonce of an account after a block.',
  cost: 'point',
  classes: ['state'],
  params: [accountParam, stateBlockParam],
  result: { name: 'nonce', schema: quantity64.schema },
  errors: STATE_ERRORS,
  handler: ({ chain, state }, address, id) => formatQuantity(state.nonce(address, requireStateBlock(chain, id))),
})

export const getAccountInfo = defineMethod({
  name: 'eth_getAccountInfo',
  summary: 'Balance, nonce and code of an account after a block.',
  description: "reth's method: a fork of anvil reads an account with it in one request.",
  cost: 'point',
  classes: ['state'],
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
