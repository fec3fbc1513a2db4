import { formatQuantity } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'

export const chainId = defineMethod({
  name: 'eth_chainId',
  summary: 'Chain id (EIP-155).',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: { name: 'chain id', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => formatQuantity(chain.chainId()),
})
