import { createRequire } from 'node:module'

/** One implementation of signatures on the curve secp256k1 (SEC 2). */
export interface Secp256k1 {
  /** The 64 bytes x and y of the public key that signed the 32-byte hash; r and s are 32 bytes each. Accepts high
   *  values of s. `recoveryId`: 0 or 1, whether y is odd; no rule of Ethereum has 2 and 3, where x was r plus the
   *  group's order.
   *  @throws Error when r or s is 0 or not below the group's order, or there is no such key; or for another length. */
  recover(hash: Uint8Array, recoveryId: number, r: Uint8Array, s: Uint8Array): Uint8Array
  /** A deterministic signature (RFC 6979) with low s (EIP-2). @throws Error for a private key that is 0 or too
   *  large. */
  sign(hash: Uint8Array, privateKey: Uint8Array): { r: Uint8Array; s: Uint8Array; recoveryId: number }
}

/** The implementations, the fastest first: libsecp256k1 in C, the same in WebAssembly, and JavaScript. They recover
 *  about 18,000, 4,000 and 600 keys a second. */
export const SECP256K1_KINDS = ['native', 'wasm', 'javascript'] as const
export type Secp256k1Kind = (typeof SECP256K1_KINDS)[number]

/** Creates the implementation of that kind. @throws Error if it does not load. */
export function createSecp256k1(kind: Secp256k1Kind): Secp256k1 {
  const require = createRequire(import.meta.url)
  if (kind === 'wasm') return overWasm(require('tiny-secp256k1') as TinySecp256k1)
  if (kind === 'javascript') return overJavaScript(require('ethereum-cryptography/secp256k1.js').secp256k1)
  // Its main entry silently falls back to JavaScript.
  return overBindings(require('secp256k1/bindings') as Secp256k1Bindings)
}

interface Secp256k1Bindings {
  ecdsaRecover(signature: Uint8Array, recoveryId: number, hash: Uint8Array, compressed: boolean): Uint8Array
  ecdsaSign(hash: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
}

function overBindings({ ecdsaRecover, ecdsaSign }: Secp256k1Bindings): Secp256k1 {
  return {
    recover: (hash, recoveryId, r, s) =>
      withoutPrefix(ecdsaRecover(joinSignature(r, s, recoveryId), recoveryId, hash, false)),
    sign: (hash, privateKey) => {
      const { signature, recid } = ecdsaSign(hash, privateKey)
      return splitSignature(signature, recid)
    },
  }
}

interface TinySecp256k1 {
  recover(hash: Uint8Array, signature: Uint8Array, recoveryId: 0 | 1, compressed: boolean): Uint8Array | null
  signRecoverable(hash: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recoveryId: number }
}

function overWasm({ recover, signRecoverable }: TinySecp256k1): Secp256k1 {
  return {
    recover: (hash, recoveryId, r, s) => {
      const key = recover(hash, joinSignature(r, s, recoveryId), recoveryId as 0 | 1, false)
      if (key === null) throw new Error('no public key has this signature')
      return withoutPrefix(key)
    },
    sign: (hash, privateKey) => {
      const { signature, recoveryId } = signRecoverable(hash, privateKey)
      return splitSignature(signature, recoveryId)
    },
  }
}

type NobleSecp256k1 = typeof import('ethereum-cryptography/secp256k1.js').secp256k1

function overJavaScript({ Signature, sign }: NobleSecp256k1): Secp256k1 {
  return {
    recover: (hash, recoveryId, r, s) => {
      if (hash.length !== 32) throw new Error(`hash: expected 32 bytes, got ${hash.length}`)
      const signature = Signature.fromCompact(joinSignature(r, s, recoveryId)).addRecoveryBit(recoveryId)
      return withoutPrefix(signature.recoverPublicKey(hash).toRawBytes(false))
    },
    sign: (hash, privateKey) => {
      const signature = sign(hash, privateKey, { lowS: true })
      return splitSignature(signature.toCompactRawBytes(), signature.recovery)
    },
  }
}

function joinSignature(r: Uint8Array, s: Uint8Array, recoveryId: number): Uint8Array {
  if (recoveryId !== 0 && recoveryId !== 1) throw new Error(`recovery id: expected 0 or 1, got ${recoveryId}`)
  if (r.length !== 32 || s.length !== 32) throw new Error(`r and s: expected 32 bytes, got ${r.length} and ${s.length}`)
  const signature = new Uint8Array(64)
  signature.set(r)
  signature.set(s, 32)
  return signature
}

function splitSignature(signature: Uint8Array, recoveryId: number) {
  return { r: signature.slice(0, 32), s: signature.slice(32), recoveryId }
}

/** The key without the prefix byte of uncompressed keys. */
function withoutPrefix(key: Uint8Array): Uint8Array {
  return key.slice(1)
}
