import { formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../blockId.js'
import { defineMethod } from '../method.js'
import { quantity } from '../params.js'
import { suggestTip } from './suggestTip.js'

export const gasPrice = defineMethod({
  name: 'eth_gasPrice',
  summary: 'A gas price in wei that newest blocks took: base fee of the head and the suggested tip.',
  cost: 'point',
  params: [],
  result: { name: 'gas price', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => {
    const baseFee = findBlock(chain, 'latest')?.header.baseFeePerGas ?? 0n
    return formatQuantity(suggestTip(chain) + baseFee)
  },
})
