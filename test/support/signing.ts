import { secp256k1 } from 'ethereum-cryptography/secp256k1.js'
import { keccak256, signHash } from '../../src/chain/crypto.js'
import { encodeRlp } from '../../src/chain/eth/rlp.js'
import {
  decodeTransaction,
  encodeTransaction,
  type SignedTransaction,
  signedFields,
  type UnsignedTransaction,
} from '../../src/chain/eth/transaction.js'
import type { Transaction } from '../../src/chain/eth/types.js'
import { bytesToBigInt, concatBytes } from '../../src/lib/bytes.js'

/** The transaction signed with a 32-byte private key: deterministic (RFC 6979), with low s. */
export function signTransaction(unsigned: UnsignedTransaction, privateKey: Uint8Array): Transaction {
  const { type, chainId } = unsigned
  const fields = signedFields(unsigned as SignedTransaction).slice(0, -3)
  const payload = encodeRlp(type === 0 && chainId !== undefined ? [...fields, chainId, 0, 0] : fields)
  const hash = keccak256(type === 0 ? payload : concatBytes(Uint8Array.of(type), payload))
  const { r, s, recoveryId } = signHash(hash, privateKey)
  const v = BigInt(recoveryId) + (type !== 0 ? 0n : chainId === undefined ? 27n : chainId * 2n + 35n)
  const signed = { ...unsigned, v, r: bytesToBigInt(r), s: bytesToBigInt(s) }
  return decodeTransaction(encodeTransaction(signed as SignedTransaction))
}

/** The 20-byte address of a private key. */
export function addressOfPrivateKey(privateKey: Uint8Array): Uint8Array {
  return keccak256(secp256k1.getPublicKey(privateKey, false).subarray(1)).slice(12)
}
