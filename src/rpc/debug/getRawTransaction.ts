import { encodeTransaction } from '../../chain/eth/transaction.js'
import { formatData } from '../../lib/hex.js'
import { HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'

export const getRawTransaction = defineMethod({
  name: 'debug_getRawTransaction',
  summary: 'A transaction in its consensus encoding (EIP-2718), or null.',
  cost: 'point',
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
