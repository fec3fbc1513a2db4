import { defineMethod } from '../core/method.js'

export const listening = defineMethod({
  name: 'net_listening',
  summary: 'Always true.',
  cost: 'point',
  chainless: true,
  params: [],
  result: { name: 'listening', schema: { type: 'boolean' } },
  errors: [],
  handler: () => true,
})
