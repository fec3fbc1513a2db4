import { isMainThread } from 'node:worker_threads'
import { padLeft } from '../lib/bytes.js'
import { messageOf } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import {
  createKeccak,
  KECCAK_KINDS,
  type Keccak,
  type Keccak256,
  type Keccak256Into,
  type KeccakInput,
  type KeccakKind,
} from '../wasm/keccak.js'
import { createSecp256k1, SECP256K1_KINDS, type Secp256k1, type Secp256k1Kind } from './secp256k1.js'

/** The chosen implementation, and why the ones before it failed. */
export interface Choice<Kind extends string, Implementation> {
  readonly kind: Kind
  readonly implementation: Implementation
  readonly refused: readonly { readonly kind: Kind; readonly reason: string }[]
}

/** The first kind that can be created. @throws AggregateError if none can. */
export function chooseFirst<Kind extends string, Implementation>(
  kinds: readonly Kind[],
  create: (kind: Kind) => Implementation,
): Choice<Kind, Implementation> {
  const refused: { kind: Kind; reason: string }[] = []
  const errors: unknown[] = []
  for (const kind of kinds) {
    try {
      return { kind, implementation: create(kind), refused }
    } catch (error) {
      errors.push(error)
      refused.push({ kind, reason: messageOf(error).split('\n')[0] })
    }
  }
  throw new AggregateError(errors, `none of ${kinds.join(', ')} loads`)
}

const keccak: Choice<KeccakKind, Keccak> = chooseFirst(KECCAK_KINDS, createKeccak)

/** Implementations allowed in threads that may be terminated. The native binding aborts the process if its thread is
 *  terminated while it runs or loads: its Node-API calls fail, and the resulting `Napi::Error` is not caught. */
const TERMINABLE_SECP256K1_KINDS = SECP256K1_KINDS.filter((kind) => kind !== 'native')

let mayUseNative = isMainThread
let chosenSecp256k1: Choice<Secp256k1Kind, Secp256k1> | undefined

/** Loaded on first use: it takes about 20 ms, and most threads never need it. */
function secp256k1(): Choice<Secp256k1Kind, Secp256k1> {
  chosenSecp256k1 ??= chooseFirst(mayUseNative ? SECP256K1_KINDS : TERMINABLE_SECP256K1_KINDS, createSecp256k1)
  return chosenSecp256k1
}

/** Lets the calling worker thread use the native binding. Only for a thread that is never terminated: it ends itself,
 *  and the process does not exit before. Call it before the first use. */
export function useNativeSecp256k1(): void {
  mayUseNative = true
}

/** Loads and returns the implementations that the calling thread uses. */
export function cryptoImplementations(): { keccak256: KeccakKind; secp256k1: Secp256k1Kind } {
  return { keccak256: keccak.kind, secp256k1: secp256k1().kind }
}

/** Logs the implementations in use at debug level, or as a warning with the reasons if one is not the fastest. */
export function logCrypto(log: Logger): void {
  const implementations = cryptoImplementations()
  const refused = [...keccak.refused, ...secp256k1().refused]
  if (refused.length === 0) log.debug(implementations, 'crypto')
  else log.warn({ ...implementations, refused }, 'crypto: a fast implementation does not load')
}

/** Keccak-256 of the bytes: a new array of 32 bytes. */
export const keccak256: Keccak256 = keccak.implementation.keccak256

/** Writes Keccak-256 of the bytes, 32 bytes, to `out` at `at`. */
export const keccak256Into: Keccak256Into = keccak.implementation.keccak256Into

/** The memory for hash input. */
export const keccakInput: KeccakInput = keccak.implementation.input

/** The 64-byte public key (without its 04 prefix) that signed the 32-byte hash; r and s are at most 32 bytes each.
 *  @throws Error when `recoveryId` is not 0 or 1, or no key can have made the signature r, s. */
export function recoverPublicKey(hash: Uint8Array, recoveryId: number, r: Uint8Array, s: Uint8Array): Uint8Array {
  return secp256k1().implementation.recover(hash, recoveryId, padLeft(r, 32), padLeft(s, 32))
}

/** A deterministic (RFC 6979) signature with low s (EIP-2): r and s of 32 bytes, and the recovery id 0 or 1. */
export function signHash(
  hash: Uint8Array,
  privateKey: Uint8Array,
): { r: Uint8Array; s: Uint8Array; recoveryId: number } {
  return secp256k1().implementation.sign(hash, privateKey)
}
