import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

export const version = defineMethod({
  name: 'net_version',
  summary: 'Network id in decimal, equal to the chain id.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'network id', schema: { type: 'string', pattern: '^[0-9]+$' } },
  errors: [],
  handler: ({ chain }) => chain.chainId().toString(),
})

export const listening = defineMethod({
  name: 'net_listening',
  summary: 'Always true.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'listening', schema: { type: 'boolean' } },
  errors: [],
  handler: () => true,
})

export const peerCount = defineMethod({
  name: 'net_peerCount',
  summary: 'Number of connected peers: always zero.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'peers', schema: index.schema },
  errors: [],
  handler: () => '0x0',
})
