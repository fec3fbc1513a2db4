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
