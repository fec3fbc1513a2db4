import { bigIntToBytes, concatBytes } from '../../lib/bytes.js'
import { keccak256, recoverPublicKey } from '../crypto.js'
import { encodeRlp } from './rlp.js'
import { SECP256K1_N } from './transaction.js'
import type { Authorization } from './types.js'

const MAGIC = Uint8Array.of(0x05)

/** Returns the address of the signer of an authorization (EIP-7702), 20 bytes; undefined if the signature is
 *  invalid. */
export function recoverAuthority({ chainId, address, nonce, yParity, r, s }: Authorization): Uint8Array | undefined {
  if (yParity > 1n || r === 0n || r >= SECP256K1_N || s === 0n || s > SECP256K1_N / 2n) return undefined
  const hash = keccak256(concatBytes(MAGIC, encodeRlp([chainId, address, nonce])))
  try {
    return keccak256(recoverPublicKey(hash, Number(yParity), bigIntToBytes(r), bigIntToBytes(s))).slice(12)
  } catch {
    return undefined
  }
}

// EIP-7702: the code of an account that delegates is this and an address, 23 bytes.
const MARKER = Uint8Array.of(0xef, 0x01, 0x00)

/** Returns the code of an account that delegates to `address` (EIP-7702): 23 bytes. */
export function delegationTo(address: Uint8Array): Uint8Array {
  return concatBytes(MARKER, address)
}

/** Returns the address, 20 bytes, that code delegates to (EIP-7702); undefined for other code. */
export function delegationOf(code: Uint8Array): Uint8Array | undefined {
  const isDelegation = code.length === 23 && MARKER.every((byte, i) => code[i] === byte)
  return isDelegation ? code.slice(MARKER.length) : undefined
}
