import { defineMethod } from '../core/method.js'
import { address, index } from '../core/params.js'

export const coinbase = defineMethod({
  name: 'eth_coinbase',
  summary: 'Beneficiary of mined blocks: the zero address, since Cairn does not mine.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'address', schema: address.schema },
  errors: [],
  handler: () => `0x${'0'.repeat(40)}`,
})

export const mining = defineMethod({
  name: 'eth_mining',
  summary: 'Always false.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'mining', schema: { type: 'boolean' } },
  errors: [],
  handler: () => false,
})

export const hashrate = defineMethod({
  name: 'eth_hashrate',
  summary: 'Hashes per second of the miner: always zero.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [],
  result: { name: 'hashes per second', schema: index.schema },
  errors: [],
  handler: () => '0x0',
})
