import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'

export const hashrate = defineMethod({
  name: 'eth_hashrate',
  summary: 'Hashes per second of the miner: always zero.',
  cost: 'point',
  chainless: true,
  params: [],
  result: { name: 'hashes per second', schema: index.schema },
  errors: [],
  handler: () => '0x0',
})
