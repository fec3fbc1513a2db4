import type { L2Reader } from '../../store/l2/l2Reader.js'
import { L2PartUnavailable } from '../../store/l2/unavailable.js'
import { defineMethod } from '../core/method.js'
import { TRANSACTION_NOT_FOUND } from './errors.js'
import {
  bodyOf,
  type FoundTransaction,
  finalityOf,
  l2TransactionHashParam,
  requireTransaction,
} from './foundTransaction.js'
import { STARKNET_STATUS_SCHEMA } from './schemas.js'

export const getTransactionStatus = defineMethod({
  name: 'starknet_getTransactionStatus',
  summary: 'Whether a layer-2 transaction is final and whether it was executed.',
  description: '`execution_status` is omitted, as the specification allows, if receipts were not recorded.',
  cost: 'scan',
  classes: ['blocks'],
  params: [l2TransactionHashParam],
  result: { name: 'status', schema: STARKNET_STATUS_SCHEMA },
  errors: [TRANSACTION_NOT_FOUND],
  handler: ({ l2 }, hash) => {
    const transaction = requireTransaction(l2, hash)
    return { finality_status: finalityOf(transaction.found), ...executionStatus(l2, transaction) }
  },
})

function executionStatus(l2: L2Reader, { found, index }: FoundTransaction): object {
  try {
    const { revertReason } = bodyOf(l2, found).receipts()[index].receipt
    if (revertReason === undefined) return { execution_status: 'SUCCEEDED' }
    return { execution_status: 'REVERTED', failure_reason: revertReason }
  } catch (error) {
    if (error instanceof L2PartUnavailable) return {}
    throw error
  }
}
