import { createRequire } from 'node:module'
import { createKeccak } from 'hash-wasm'

const hasher = await createKeccak(256)

/** keccak-256 of the bytes: 32 bytes. One reused wasm instance, 8 to 16 times as fast as JavaScript. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest('binary')
}

interface Secp256k1 {
  ecdsaRecover(signature: Uint8Array, recoveryId: number, hash: Uint8Array, compressed: boolean): Uint8Array
  ecdsaSign(hash: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array
}

// `secp256k1` alone falls back to slow JavaScript in silence; its bindings either load or say so.
const require = createRequire(import.meta.url)
const { native, secp256k1 } = loadSecp256k1()

function loadSecp256k1(): { native: boolean; secp256k1: Secp256k1 } {
  try {
    return { native: true, secp256k1: require('secp256k1/bindings') as Secp256k1 }
  } catch {
    return { native: false, secp256k1: require('secp256k1/elliptic') as Secp256k1 }
  }
}

/** Which implementation of secp256k1 is in use: the native one, or 30 times slower JavaScript where it does not load. */
export const secp256k1Implementation = native ? 'native' : 'javascript'

/** The 64-byte public key (without its 04 prefix) that signed `hash`.
 *  @throws Error when `recoveryId` is not 0 or 1, or r and s are no signature by any key. */
export function recoverPublicKey(hash: Uint8Array, recoveryId: number, r: Uint8Array, s: Uint8Array): Uint8Array {
  const signature = new Uint8Array(64)
  signature.set(r, 32 - r.length)
  signature.set(s, 64 - s.length)
  return secp256k1.ecdsaRecover(signature, recoveryId, hash, false).slice(1)
}

/** A deterministic (RFC 6979) signature with low s (EIP-2): r and s of 32 bytes, and the recovery id 0 or 1. */
export function signHash(
  hash: Uint8Array,
  privateKey: Uint8Array,
): { r: Uint8Array; s: Uint8Array; recoveryId: number } {
  const { signature, recid } = secp256k1.ecdsaSign(hash, privateKey)
  return { r: signature.slice(0, 32), s: signature.slice(32, 64), recoveryId: recid }
}

/** The 20-byte address of a private key. */
export function addressOfPrivateKey(privateKey: Uint8Array): Uint8Array {
  return keccak256(secp256k1.publicKeyCreate(privateKey, false).slice(1)).slice(12)
}
