import { defineMethod } from '../core/method.js'

export const peers = defineMethod({
  name: 'admin_peers',
  summary: 'No peers: blocks come from files and upstreams.',
  description: 'For tools that ask.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'peers', schema: { type: 'array', items: { type: 'object' }, maxItems: 0 } },
  errors: [],
  handler: () => [],
})
