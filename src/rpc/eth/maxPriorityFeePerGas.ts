import { formatQuantity } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { suggestTip } from './suggestTip.js'

export const maxPriorityFeePerGas = defineMethod({
  name: 'eth_maxPriorityFeePerGas',
  summary: 'Suggested priority fee per gas in wei.',
  description: 'The 60th percentile of the three lowest tips of each of the last 20 blocks; 1 gwei if there are none.',
  cost: 'point',
  params: [],
  result: { name: 'tip', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => formatQuantity(suggestTip(chain)),
})
