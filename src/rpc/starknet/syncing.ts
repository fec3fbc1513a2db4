import { defineMethod } from '../core/method.js'

export const syncing = defineMethod({
  name: 'starknet_syncing',
  summary: 'Always false: Cairn serves what is stored.',
  cost: 'point',
  params: [],
  result: { name: 'syncing', schema: { type: 'boolean' } },
  errors: [],
  handler: () => false,
})
