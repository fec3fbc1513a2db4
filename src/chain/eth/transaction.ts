import { bigIntToBytes, concatBytes } from '../../lib/bytes.js'
import { messageOf } from '../../lib/errors.js'
import { keccak256, recoverPublicKey } from '../crypto.js'
import { accessListInput, authorizationListInput, readAccessList, readAuthorizationList } from './access.js'
import { addedType, describeTypes } from './families/addedTypes.js'
import {
  asBytes,
  asFixed,
  asList,
  asOptionalAddress,
  asUint,
  DecodeError,
  decodeRlp,
  encodeRlp,
  type RlpInput,
  type RlpItem,
  type RlpList,
  underPath,
} from './rlp.js'
import type { Transaction, TransactionType } from './types.js'

export { decodeAccessList, decodeAuthorizationList, encodeAccessList, encodeAuthorizationList } from './access.js'

/** A signed transaction whose sender was not recovered yet. */
export type SignedTransaction = Omit<Transaction, 'from'>

/** A transaction before it is signed. With a `chainId` a legacy one is signed after EIP-155. */
export type UnsignedTransaction = Omit<SignedTransaction, 'hash' | 'v' | 'r' | 's'>

/** Order of the group of secp256k1 (SEC 2, section 2.4.1). */
export const SECP256K1_N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** A transaction with its sender, from its consensus bytes (EIP-2718: legacy RLP list, or type byte and payload) or
 *  from the decoded list of a legacy one. Accepts high s: see `hasHighS`.
 *  @param sender 20 bytes, if it was recovered before
 *  @throws DecodeError naming the field under `path`, also for an unknown type, a signature out of range, or one that
 *    no key can have made. */
export function decodeTransaction(input: Uint8Array | RlpList, path = 'transaction', sender?: Uint8Array): Transaction {
  const transaction = decodeSignedTransaction(input, path) as Transaction
  try {
    transaction.from = sender ?? recoverSender(transaction)
  } catch (error) {
    throw underPath(path, error)
  }
  return transaction
}

/** Like `decodeTransaction`, without recovering the sender, which costs twenty times the rest. @throws DecodeError. */
export function decodeSignedTransaction(input: Uint8Array | RlpList, path = 'transaction'): SignedTransaction {
  try {
    if (!(input instanceof Uint8Array)) return readLegacy(input, input.raw)
    if (input.length === 0) throw new DecodeError('', 'expected a transaction, got no bytes')
    if (input[0] >= 0xc0) return readLegacy(decodeRlp(input, ''), input)
    return readTyped(input)
  } catch (error) {
    throw underPath(path, error)
  }
}

function readLegacy(item: RlpItem, raw: Uint8Array): SignedTransaction {
  const fields = asList(item, '', 9, 9)
  const v = asUint(fields[6], 32, 'v')
  if (v !== 27n && v !== 28n && v < 35n) throw new DecodeError('v', `expected 27, 28 or at least 35, got ${v}`)
  return {
    type: 0,
    hash: keccak256(raw),
    chainId: v < 35n ? undefined : (v - 35n) / 2n,
    nonce: asUint(fields[0], 8, 'nonce'),
    gasLimit: asUint(fields[2], 8, 'gasLimit'),
    gasPrice: asUint(fields[1], 32, 'gasPrice'),
    to: asOptionalAddress(fields[3], 'to'),
    value: asUint(fields[4], 32, 'value'),
    input: asBytes(fields[5], 'input'),
    v,
    r: asScalar(fields[7], 'r'),
    s: asScalar(fields[8], 's'),
  }
}

/** Fields of each typed transaction: EIP-2930, EIP-1559, EIP-4844, EIP-7702. */
const FIELD_COUNTS: { [type: number]: number | undefined } = { 1: 11, 2: 12, 3: 14, 4: 13 }

function readTyped(bytes: Uint8Array): SignedTransaction {
  const count = FIELD_COUNTS[bytes[0]]
  if (count === undefined) return readAdded(bytes)
  const type = bytes[0] as TransactionType
  const fields = asList(decodeRlp(bytes.subarray(1), ''), '', count, count)
  // From type 2 on, two fees replace the gas price.
  const at = type === 1 ? 3 : 4
  const transaction: SignedTransaction = {
    type,
    hash: keccak256(bytes),
    chainId: asUint(fields[0], 32, 'chainId'),
    nonce: asUint(fields[1], 8, 'nonce'),
    gasLimit: asUint(fields[at], 8, 'gasLimit'),
    gasPrice: type === 1 ? asUint(fields[2], 32, 'gasPrice') : undefined,
    maxPriorityFeePerGas: type === 1 ? undefined : asUint(fields[2], 32, 'maxPriorityFeePerGas'),
    maxFeePerGas: type === 1 ? undefined : asUint(fields[3], 32, 'maxFeePerGas'),
    // Types 3 and 4 cannot create contracts.
    to: type >= 3 ? asFixed(fields[at + 1], 20, 'to') : asOptionalAddress(fields[at + 1], 'to'),
    value: asUint(fields[at + 2], 32, 'value'),
    input: asBytes(fields[at + 3], 'input'),
    accessList: readAccessList(fields[at + 4]),
    v: asUint(fields[count - 3], 1, 'yParity'),
    r: asScalar(fields[count - 2], 'r'),
    s: asScalar(fields[count - 1], 's'),
  }
  if (transaction.v > 1n) throw new DecodeError('yParity', `expected 0 or 1, got ${transaction.v}`)
  if (type === 3) {
    transaction.maxFeePerBlobGas = asUint(fields[9], 32, 'maxFeePerBlobGas')
    transaction.blobVersionedHashes = asList(fields[10], 'blobVersionedHashes').map((hash, index) =>
      asFixed(hash, 32, `blobVersionedHashes[${index}]`),
    )
  }
  if (type === 4) transaction.authorizationList = readAuthorizationList(fields[9])
  return transaction
}

/** Decodes a transaction of a type that a family adds. */
function readAdded(bytes: Uint8Array): SignedTransaction {
  const added = addedType(bytes[0])
  if (added === undefined) throw new DecodeError('type', `expected ${describeTypes(1)}, got ${bytes[0]}`)
  return { ...added.decode(decodeRlp(bytes.subarray(1), '')), hash: keccak256(bytes) }
}

function asScalar(item: RlpItem, path: string): bigint {
  const value = asUint(item, 32, path)
  if (value === 0n || value >= SECP256K1_N) {
    throw new DecodeError(path, `expected 1 to the order of secp256k1 minus 1, got 0x${value.toString(16)}`)
  }
  return value
}

/** Recovers the sender, 20 bytes, from the signature (Yellow Paper, appendix F). Types that families add name it.
 *  @throws DecodeError when no key can have made the signature. */
export function recoverSender(transaction: SignedTransaction): Uint8Array {
  const { type, v, r, s } = transaction
  if (addedType(type) !== undefined) return (transaction as Transaction).from
  const recoveryId = Number(type !== 0 ? v : v < 35n ? v - 27n : (v - 35n) & 1n)
  let publicKey: Uint8Array
  try {
    publicKey = recoverPublicKey(signingHash(transaction), recoveryId, bigIntToBytes(r), bigIntToBytes(s))
  } catch (error) {
    throw new DecodeError('signature', `expected one by some key, got none: ${messageOf(error)}`, { cause: error })
  }
  return keccak256(publicKey).slice(12)
}

/** The hash that the sender signs, 32 bytes: for legacy transactions with a chain id that of EIP-155. */
function signingHash(transaction: UnsignedTransaction): Uint8Array {
  const { type, chainId } = transaction
  const fields = unsignedFields(transaction)
  if (type === 0) return keccak256(encodeRlp(chainId === undefined ? fields : [...fields, chainId, 0, 0]))
  return keccak256(concatBytes(Uint8Array.of(type), encodeRlp(fields)))
}

/** Consensus bytes: a legacy RLP list, or the type byte and the RLP payload; blobs stay outside (EIP-2718,
 *  EIP-4844). */
export function encodeTransaction(transaction: SignedTransaction): Uint8Array {
  const payload = encodeRlp(signedFields(transaction))
  return transaction.type === 0 ? payload : concatBytes(Uint8Array.of(transaction.type), payload)
}

/** The fields of the RLP payload in their order, the signature, where the type has one, last. */
export function signedFields(transaction: SignedTransaction): RlpInput[] {
  const added = addedType(transaction.type)
  if (added !== undefined) return added.fields(transaction)
  const fields = unsignedFields(transaction)
  fields.push(transaction.v, transaction.r, transaction.s)
  return fields
}

/** keccak-256 of the consensus bytes, 32 bytes. */
export function transactionHash(transaction: Omit<SignedTransaction, 'hash'>): Uint8Array {
  return keccak256(encodeTransaction(transaction as SignedTransaction))
}

function unsignedFields(transaction: UnsignedTransaction): RlpInput[] {
  const { type, nonce, gasLimit, gasPrice, value, input } = transaction
  const to = transaction.to ?? new Uint8Array(0)
  if (type === 0) return [nonce, gasPrice!, gasLimit, to, value, input]
  const { chainId, maxPriorityFeePerGas, maxFeePerGas } = transaction
  const fees = type === 1 ? [gasPrice!] : [maxPriorityFeePerGas!, maxFeePerGas!]
  const accessList = accessListInput(transaction.accessList!)
  const fields: RlpInput[] = [chainId!, nonce, ...fees, gasLimit, to, value, input, accessList]
  if (type === 3) fields.push(transaction.maxFeePerBlobGas!, transaction.blobVersionedHashes!)
  if (type === 4) fields.push(authorizationListInput(transaction.authorizationList!))
  return fields
}

/** True when s is in the upper half of its range, which EIP-2 forbids from Homestead on. */
export function hasHighS(transaction: SignedTransaction): boolean {
  return transaction.s > SECP256K1_N / 2n
}

/** Address of the contract that `sender` creates with a transaction or CREATE of that nonce, 20 bytes (Yellow Paper,
 *  section 7). */
export function createAddress(sender: Uint8Array, nonce: bigint): Uint8Array {
  return keccak256(encodeRlp([sender, nonce])).slice(12)
}

/** Wei per gas that the sender pays: the gas price, or base fee and priority fee up to the fee cap (EIP-1559).
 *  `baseFeePerGas` is the block's; undefined before London. */
export function effectiveGasPrice(transaction: SignedTransaction, baseFeePerGas?: bigint): bigint {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction
  if (gasPrice !== undefined) return gasPrice
  const wanted = (baseFeePerGas ?? 0n) + maxPriorityFeePerGas!
  return wanted < maxFeePerGas! ? wanted : maxFeePerGas!
}
