import { encodeBlockOf } from '../../chain/eth/block.js'
import { encodeBlockAccessList } from '../../chain/eth/blockAccessList.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { encodeReceipt } from '../../chain/eth/receipt.js'
import { encodeRlp } from '../../chain/eth/rlp.js'
import { encodeTransaction } from '../../chain/eth/transaction.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE, requireNoGap, STATE_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockId, data, required } from '../core/params.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'

/** The block parameter of the raw methods; `pending` is the head. */
export const rawBlockParam = required('block', blockId, 'block number, tag, hash, or EIP-1898 object')

export const getRawBlock = defineMethod({
  name: 'debug_getRawBlock',
  summary: 'RLP of a block, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [rawBlockParam],
  result: { name: 'RLP', schema: orNull(data.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    const { header, withdrawals } = block
    const transactions = chain.transactions(block)
    const parts = { header, transactions, uncles: chain.uncles(header.number), withdrawals }
    return formatData(encodeBlockOf(familyOf(chain.spec()), parts))
  },
})

export const getRawHeader = defineMethod({
  name: 'debug_getRawHeader',
  summary: "RLP of a block's header, or null.",
  cost: 'point',
  classes: ['blocks'],
  params: [rawBlockParam],
  result: { name: 'RLP', schema: orNull(data.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? formatData(encodeRlp(familyOf(chain.spec()).encodedFields(block.header))) : null
  },
})

export const getRawReceipts = defineMethod({
  name: 'debug_getRawReceipts',
  summary: "A block's receipts in their consensus encoding (EIP-2718), in order, or null.",
  cost: 'point',
  classes: ['blocks'],
  params: [rawBlockParam],
  result: { name: 'receipts', schema: orNull({ type: 'array', items: data.schema }) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? chain.receipts(block).map(({ receipt }) => formatData(encodeReceipt(receipt))) : null
  },
})

export const getRawTransaction = defineMethod({
  name: 'debug_getRawTransaction',
  summary: 'A transaction in its consensus encoding (EIP-2718), or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [transactionHashParam],
  result: { name: 'transaction', schema: orNull(data.schema) },
  errors: [HASH_UNAVAILABLE],
  handler: ({ chain, transactions }, hash) => {
    const location = transactions.locate(hash)
    const block = location && chain.blockByNumber(location.blockNumber)
    const transaction = block && chain.transaction(block, location.index)
    if (transaction) return formatData(encodeTransaction(transaction))
    requireNoGap(chain)
    return null
  },
})

export const getRawBlockAccessList = defineMethod({
  name: 'debug_getRawBlockAccessList',
  summary: "RLP of a block's access list (EIP-7928), or null.",
  description:
    'Null before Amsterdam. A list that is not stored (`--block-access-lists`) is found by executing the block again, on the ' +
    'state of its parent.',
  cost: 'evm',
  classes: ['traces'],
  params: [rawBlockParam],
  result: { name: 'RLP', schema: orNull(data.schema) },
  errors: [BLOCK_UNAVAILABLE, { ...STATE_UNAVAILABLE, when: 'blocks were imported with `--state none`' }],
  handler: ({ chain, evm, deadline }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    const stored = chain.blockAccessList(block.header.number)
    if (stored) return formatData(stored)
    const list = evm.blockAccessList(block.header.number, deadline)
    return list === undefined ? null : formatData(encodeBlockAccessList(list))
  },
})
