import { defineMethod } from '../core/method.js'

export const mining = defineMethod({
  name: 'eth_mining',
  summary: 'Always false.',
  cost: 'point',
  chainless: true,
  params: [],
  result: { name: 'mining', schema: { type: 'boolean' } },
  errors: [],
  handler: () => false,
})
