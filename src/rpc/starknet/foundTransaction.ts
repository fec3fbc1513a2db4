import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import { required } from '../core/params.js'
import { type FoundL2Block, feltParam } from './blockId.js'
import { type L2Body, readL2Body } from './body.js'
import { starknetError, TRANSACTION_NOT_FOUND } from './errors.js'
import { formatL2Receipt } from './receiptJson.js'

/** The parameter of methods that look up a transaction. */
export const l2TransactionHashParam = required('transaction_hash', feltParam, 'hash of the transaction')

/** A transaction by its hash: its block and its index there. */
export interface FoundTransaction {
  readonly found: FoundL2Block
  readonly index: number
}

/** Finds the transaction with that hash in a canonical block or in the pending one. @throws RpcError */
export function requireTransaction(l2: L2Reader, hash: Felt): FoundTransaction {
  const stored = l2.findTransaction(hash)
  if (stored !== undefined) return { found: { confirmed: stored.block }, index: stored.index }
  const pending = l2.pending()
  const index = pending?.transactionHashes.indexOf(hash) ?? -1
  if (index < 0) throw starknetError(TRANSACTION_NOT_FOUND, l2)
  return { found: { pending: pending! }, index }
}

/** Recorded body of a block. @throws L2PartUnavailable */
export function bodyOf(l2: L2Reader, found: FoundL2Block): L2Body {
  return 'pending' in found ? readL2Body(l2, { number: found.pending.number }) : readL2Body(l2, found.confirmed)
}

/** TXN_FINALITY_STATUS of the transactions of a block. */
export function finalityOf(found: FoundL2Block): string {
  return 'pending' in found ? 'PRE_CONFIRMED' : found.confirmed.status
}

/** Transaction `index` with its hash (TXN_WITH_HASH). @throws L2PartUnavailable */
export function formatTransactionAt(body: L2Body, index: number): object {
  const transaction_hash = formatFelt(body.block.transactionHashes[index])
  return { transaction_hash, ...body.transactions()[index] }
}

/** Receipt `index` (TXN_RECEIPT). @throws L2PartUnavailable */
export function formatReceiptAt(body: L2Body, found: FoundL2Block, index: number): object {
  return formatL2Receipt(body.receipts()[index], finalityOf(found))
}
