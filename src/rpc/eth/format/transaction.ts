import { addedType } from '../../../chain/eth/families/addedTypes.js'
import { effectiveGasPrice } from '../../../chain/eth/transaction.js'
import type { AccessListEntry, Authorization, Header, Transaction } from '../../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import type { StoredBlock } from '../../../store/rows/types.js'

/** The transaction object of the API specification. Fields of other types are absent, those of types that families add
 *  follow; `chainId` is present if the
 *  transaction has one; `gasPrice` of fee-market transactions is the effective price. */
export function formatTransaction(
  transaction: Transaction,
  block: Pick<StoredBlock, 'hash' | 'header'>,
  index: number,
) {
  const { hash, header } = block
  return formatAt(transaction, header, {
    blockHash: formatData(hash),
    blockNumber: formatQuantity(header.number),
    blockTimestamp: formatQuantity(header.timestamp),
    transactionIndex: formatQuantity(index),
  })
}

/** The object of a transaction of a pending block: its location is null. */
export function formatPendingTransaction(transaction: Transaction, header: Header) {
  return formatAt(transaction, header, { blockHash: null, blockNumber: null, transactionIndex: null })
}

interface Place {
  blockHash: string | null
  blockNumber: string | null
  blockTimestamp?: string
  transactionIndex: string | null
}

function formatAt(transaction: Transaction, header: Header, place: Place) {
  const added = addedType(transaction.type)
  return {
    blockHash: place.blockHash,
    blockNumber: place.blockNumber,
    blockTimestamp: place.blockTimestamp,
    from: formatData(transaction.from),
    gas: formatQuantity(transaction.gasLimit),
    gasPrice: formatQuantity(effectiveGasPrice(transaction, header.baseFeePerGas)),
    maxFeePerGas: optionalQuantity(transaction.maxFeePerGas),
    maxPriorityFeePerGas: optionalQuantity(transaction.maxPriorityFeePerGas),
    maxFeePerBlobGas: optionalQuantity(transaction.maxFeePerBlobGas),
    hash: formatData(transaction.hash),
    input: formatData(transaction.input),
    nonce: formatQuantity(transaction.nonce),
    to: transaction.to ? formatData(transaction.to) : null,
    transactionIndex: place.transactionIndex,
    value: formatQuantity(transaction.value),
    type: formatQuantity(transaction.type),
    accessList: transaction.accessList?.map(formatAccess),
    chainId: optionalQuantity(transaction.chainId),
    blobVersionedHashes: transaction.blobVersionedHashes?.map(formatData),
    authorizationList: transaction.authorizationList?.map(formatAuthorization),
    v: formatQuantity(transaction.v),
    r: formatQuantity(transaction.r),
    s: formatQuantity(transaction.s),
    // `v` of typed transactions equals the parity (EIP-2930).
    yParity: transaction.type === 0 || added !== undefined ? undefined : formatQuantity(transaction.v),
    ...added?.members(transaction),
  }
}

/** The object of a transaction without location, sender and signature, as geth writes it: fees of other types are
 *  null. */
export function formatUnsignedTransaction(transaction: Transaction) {
  const { type, to, accessList, gasPrice, maxPriorityFeePerGas, maxFeePerGas } = transaction
  const orNull = (value: bigint | undefined) => optionalQuantity(value) ?? null
  return {
    type: formatQuantity(type),
    chainId: optionalQuantity(transaction.chainId),
    nonce: formatQuantity(transaction.nonce),
    to: to ? formatData(to) : null,
    gas: formatQuantity(transaction.gasLimit),
    gasPrice: orNull(gasPrice),
    maxPriorityFeePerGas: orNull(maxPriorityFeePerGas),
    maxFeePerGas: orNull(maxFeePerGas),
    maxFeePerBlobGas: type === 3 ? optionalQuantity(transaction.maxFeePerBlobGas) : undefined,
    value: formatQuantity(transaction.value),
    input: formatData(transaction.input),
    accessList: accessList?.map(formatAccess),
    blobVersionedHashes: type === 3 ? transaction.blobVersionedHashes?.map(formatData) : undefined,
    authorizationList: transaction.authorizationList?.map(formatAuthorization),
    ...{ v: '0x0', r: '0x0', s: '0x0' },
    yParity: type === 0 ? undefined : '0x0',
    hash: formatData(transaction.hash),
  }
}

/** An entry of an access list (EIP-2930). */
export function formatAccess({ address, storageKeys }: AccessListEntry) {
  return { address: formatData(address), storageKeys: storageKeys.map(formatData) }
}

function formatAuthorization(authorization: Authorization) {
  return {
    chainId: formatQuantity(authorization.chainId),
    address: formatData(authorization.address),
    nonce: formatQuantity(authorization.nonce),
    yParity: formatQuantity(authorization.yParity),
    r: formatQuantity(authorization.r),
    s: formatQuantity(authorization.s),
  }
}

/** Undefined stays undefined: JSON omits such members. */
function optionalQuantity(value: bigint | undefined): string | undefined {
  return value === undefined ? undefined : formatQuantity(value)
}
