import { blobBaseFeeOf as feeOf } from '../../chain/eth/fees.js'
import { formatQuantity } from '../../lib/hex.js'
import { findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { quantity } from '../core/params.js'
import { orNull } from './schemas.js'

export const blobBaseFee = defineMethod({
  name: 'eth_blobBaseFee',
  summary: 'Blob base fee of the head in wei (EIP-4844); null before Cancun.',
  cost: 'point',
  params: [],
  result: { name: 'blob base fee', schema: orNull(quantity.schema) },
  errors: [],
  handler: ({ chain }) => {
    const block = findBlock(chain, 'latest')
    if (block?.header.excessBlobGas === undefined) return null
    return formatQuantity(feeOf(block.header.excessBlobGas, chain.rulesOf(block)))
  },
})
