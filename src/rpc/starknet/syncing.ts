import { defineMethod } from '../core/method.js'

export const syncing = defineMethod({
  name: 'starknet_syncing',
  summary: 'False: what is held is served.',
  cost: 'point',
  params: [],
  result: { name: 'syncing', schema: { type: 'boolean' } },
  errors: [],
  handler: () => false,
})
