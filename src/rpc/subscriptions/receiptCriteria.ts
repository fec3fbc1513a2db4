import { formatData } from '../../lib/hex.js'
import { invalidParams } from '../core/errors.js'
import { arrayOf, hash32, maybe } from '../core/params.js'
import type { ReceiptCriteria } from '../core/session.js'
import { strictObject } from '../core/strictObject.js'

/** Transaction hashes of a subscription: geth's limit. */
const MAX_TRANSACTION_HASHES = 200

/** Message beyond that limit, in geth's words. */
export const TOO_MANY_HASHES = `exceed max number of transaction hashes allowed per transactionReceipts subscription`

/** Memory of a hash in its set. */
const HASH_BYTES = 200

/** The options of a subscription to receipts. */
export const receiptFilter = strictObject({ transactionHashes: maybe(arrayOf(hash32)) }, { title: 'receipt filter' })

/** The criteria of a filter object; all receipts without hashes. @throws RpcError beyond 200 hashes */
export function receiptCriteria(filter: { transactionHashes?: Uint8Array[] } | undefined): ReceiptCriteria {
  const hashes = filter?.transactionHashes ?? []
  if (hashes.length > MAX_TRANSACTION_HASHES) throw invalidParams(TOO_MANY_HASHES)
  if (hashes.length === 0) return { sizeBytes: 0 }
  return { hashes: new Set(hashes.map(formatData)), sizeBytes: HASH_BYTES * hashes.length }
}
