import { defineMethod } from '../core/method.js'
import { address } from '../core/params.js'

export const coinbase = defineMethod({
  name: 'eth_coinbase',
  summary: 'Beneficiary of mined blocks: the zero address, since Cairn does not mine.',
  cost: 'point',
  chainless: true,
  params: [],
  result: { name: 'address', schema: address.schema },
  errors: [],
  handler: () => `0x${'0'.repeat(40)}`,
})
