import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

export const peerCount = defineMethod({
  name: 'net_peerCount',
  summary: 'Number of connected peers: always zero.',
  cost: 'point',
  chainless: true,
  params: [],
  result: { name: 'peers', schema: index.schema },
  errors: [],
  handler: () => '0x0',
})
