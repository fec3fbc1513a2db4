import { encodeReceipt } from '../../chain/eth/receipt.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { orNull } from '../eth/schemas.js'
import { rawBlockParam } from './rawBlockParam.js'

export const getRawReceipts = defineMethod({
  name: 'debug_getRawReceipts',
  summary: "A block's receipts in their consensus encoding (EIP-2718), in order, or null.",
  cost: 'point',
  params: [rawBlockParam],
  result: { name: 'receipts', schema: orNull({ type: 'array', items: data.schema }) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? chain.receipts(block).map(({ receipt }) => formatData(encodeReceipt(receipt))) : null
  },
})
