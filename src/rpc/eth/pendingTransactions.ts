import { defineMethod } from '../core/method.js'
import { TRANSACTION_SCHEMA } from './schemas.js'

export const pendingTransactions = defineMethod({
  name: 'eth_pendingTransactions',
  summary: "Transactions of the node's accounts that wait in its pool: none, since Cairn keeps no pool.",
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'transactions', schema: { type: 'array', items: TRANSACTION_SCHEMA } },
  errors: [],
  handler: () => [],
})
