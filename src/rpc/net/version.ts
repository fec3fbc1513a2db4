import { defineMethod } from '../core/method.js'

export const version = defineMethod({
  name: 'net_version',
  summary: 'Network id in decimal, equal to the chain id.',
  cost: 'point',
  params: [],
  result: { name: 'network id', schema: { type: 'string', pattern: '^[0-9]+$' } },
  errors: [],
  handler: ({ chain }) => chain.chainId().toString(),
})
