import { formatQuantity } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { suggestTip } from './suggestTip.js'

export const maxPriorityFeePerGas = defineMethod({
  name: 'eth_maxPriorityFeePerGas',
  summary: 'A tip per gas in wei that newest blocks took.',
  description: 'Of each of the last 20 blocks the three lowest tips, of these the 60th percentile; 1 gwei without any.',
  cost: 'point',
  params: [],
  result: { name: 'tip', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => formatQuantity(suggestTip(chain)),
})
