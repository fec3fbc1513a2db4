import { addedType } from '../../chain/eth/families/addedTypes.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { recoverSender, type SignedTransaction, transactionHash } from '../../chain/eth/transaction.js'
import type { AccessListEntry, Authorization, Transaction, TransactionType } from '../../chain/eth/types.js'
import { type Fields, readFields, readTransactionType } from './fields.js'

/** Decodes a transaction from its object. Recomputes hash and sender. @throws DecodeError for a member that cannot be
 *  read, a type that no family has, and a hash or sender that differs */
export function decodeTransactionJson(fields: Fields): Transaction {
  const unhashed = readTransaction(fields)
  const transaction = { ...unhashed, hash: transactionHash(unhashed) } as Transaction
  fields.requireSame('hash', transaction.hash)
  transaction.from = recoverSender(transaction)
  fields.requireSame('from', transaction.from)
  return transaction
}

function readTransaction(fields: Fields): Omit<SignedTransaction, 'hash'> {
  const { quantity, optional } = fields
  const type = readTransactionType(fields)
  const added = addedType(type)
  if (added !== undefined) return added.readJson(fields)
  const v = readV(fields, type)
  return {
    type,
    chainId: readChainId(fields, type, v),
    nonce: quantity('nonce'),
    gasLimit: quantity('gas'),
    gasPrice: type <= 1 ? quantity('gasPrice') : undefined,
    maxPriorityFeePerGas: type >= 2 ? quantity('maxPriorityFeePerGas') : undefined,
    maxFeePerGas: type >= 2 ? quantity('maxFeePerGas') : undefined,
    to: optional('to', (name) => fields.fixed(name, 20)),
    value: quantity('value'),
    input: fields.data(fields.has('input') ? 'input' : 'data'),
    accessList: type >= 1 ? readAccessList(fields) : undefined,
    maxFeePerBlobGas: type === 3 ? quantity('maxFeePerBlobGas') : undefined,
    blobVersionedHashes: type === 3 ? fields.hashes('blobVersionedHashes') : undefined,
    authorizationList: type === 4 ? fields.array('authorizationList').map(readAuthorization) : undefined,
    v,
    r: quantity('r'),
    s: quantity('s'),
  }
}

function readV(fields: Fields, type: TransactionType): bigint {
  if (type === 0) {
    const v = fields.quantity('v')
    if (v === 27n || v === 28n || v >= 35n) return v
    throw new DecodeError(`${fields.path}.v`, `expected 27, 28 or at least 35, got ${v}`)
  }
  const parity = fields.quantity(fields.has('yParity') ? 'yParity' : 'v')
  if (parity <= 1n) return parity
  throw new DecodeError(`${fields.path}.yParity`, `expected 0 or 1, got ${parity}`)
}

/** A legacy transaction has its chain id in `v` (EIP-155). */
function readChainId(fields: Fields, type: TransactionType, v: bigint): bigint | undefined {
  if (type !== 0) return fields.quantity('chainId')
  return v < 35n ? undefined : (v - 35n) / 2n
}

function readAccessList(fields: Fields): AccessListEntry[] {
  const entries = fields.optional('accessList', fields.array) ?? []
  return entries.map((entry, index) => {
    const at = readFields(entry, `${fields.path}.accessList[${index}]`)
    return { address: at.fixed('address', 20), storageKeys: at.hashes('storageKeys') }
  })
}

function readAuthorization(value: unknown, index: number): Authorization {
  const fields = readFields(value, `authorizationList[${index}]`)
  const { quantity } = fields
  return {
    chainId: quantity('chainId'),
    address: fields.fixed('address', 20),
    nonce: quantity('nonce'),
    yParity: quantity(fields.has('yParity') ? 'yParity' : 'v'),
    r: quantity('r'),
    s: quantity('s'),
  }
}
