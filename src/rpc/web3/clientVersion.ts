import { defineMethod } from '../core/method.js'

export const clientVersion = defineMethod({
  name: 'web3_clientVersion',
  summary: 'Name, version and platform of the server.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'client version', schema: { type: 'string' } },
  errors: [],
  handler: (context) => context.clientVersion,
})
