import { formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { suggestTip } from './suggestTip.js'

export const gasPrice = defineMethod({
  name: 'eth_gasPrice',
  summary: 'Suggested gas price in wei: base fee of the head plus the suggested priority fee.',
  cost: 'point',
  params: [],
  result: { name: 'gas price', schema: quantity.schema },
  errors: [],
  handler: ({ chain }) => {
    const baseFee = findBlock(chain, 'latest')?.header.baseFeePerGas ?? 0n
    return formatQuantity(suggestTip(chain) + baseFee)
  },
})
