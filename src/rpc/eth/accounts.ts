import { defineMethod } from '../core/method.js'
import { address } from '../core/params.js'

export const accounts = defineMethod({
  name: 'eth_accounts',
  summary: 'Accounts the server can sign for: none.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'accounts', schema: { type: 'array', items: address.schema } },
  errors: [],
  handler: () => [],
})
