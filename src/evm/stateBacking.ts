import { EMPTY_BYTES, keyOfBytes } from '../lib/bytes.js'
import { keccak256 } from '../lib/crypto.js'
import type { StateReader } from '../store/stateReader.js'

/** keccak-256 of no bytes: the code hash of an account without code. */
export const EMPTY_CODE_HASH = keccak256(EMPTY_BYTES)

/** An account as it was before the work at hand. */
export interface BaseAccount {
  nonce: bigint
  balance: bigint
  codeHash: Uint8Array // 32; `EMPTY_CODE_HASH` when there is none
}

/** The state that an overlay lies on. */
export interface StateBacking {
  /** `account` undefined: it does not exist; the record undefined: it never did. */
  account(address: Uint8Array): { incarnation: number; account?: BaseAccount } | undefined
  /** Without leading zeros. */
  storage(address: Uint8Array, slot: Uint8Array): Uint8Array
  code(hash: Uint8Array): Uint8Array
  /** True when some slot of the account's storage was ever set. */
  hasStorage(address: Uint8Array): boolean
}

// Contract code is up to 24 KiB a piece: 4,096 of them stay below 100 MiB.
const MAX_CACHED_CODES = 4096

/** The stored state after `blockNumber`; pass `LATEST` for the newest. Code is cached by its hash. */
export function createStateBacking(reader: StateReader, blockNumber: number, codes: CodeCache): StateBacking {
  return {
    account: (address) => {
      const record = reader.account(address, blockNumber)
      if (!record) return undefined
      const { incarnation, account } = record
      if (!account) return { incarnation }
      const codeHash = account.codeId === undefined ? EMPTY_CODE_HASH : codes.hashOf(account.codeId)
      return { incarnation, account: { nonce: account.nonce, balance: account.balance, codeHash } }
    },
    storage: (address, slot) => {
      const account = reader.account(address, blockNumber)?.account
      return account ? reader.storage(account.addressId, account.incarnation, slot, blockNumber) : EMPTY_BYTES
    },
    code: (hash) => codes.byHash(hash),
    hasStorage: (address) => {
      const account = reader.account(address, blockNumber)?.account
      return account !== undefined && reader.hasStorage(account.addressId, account.incarnation)
    },
  }
}

/** Code of the database by id and hash, kept in memory up to a bound. */
export interface CodeCache {
  hashOf(codeId: number): Uint8Array
  /** The same array for the same hash as long as it is cached, so that analyses can be kept beside it. */
  byHash(hash: Uint8Array): Uint8Array
}

/** A code cache over the reader. */
export function createCodeCache(reader: StateReader): CodeCache {
  const hashes = new Map<number, Uint8Array>()
  const codes = new Map<string, Uint8Array>()
  return {
    hashOf: (codeId) => {
      let hash = hashes.get(codeId)
      if (!hash) {
        hash = reader.codeHash(codeId)
        hashes.set(codeId, hash)
      }
      return hash
    },
    byHash: (hash) => {
      const key = keyOfBytes(hash)
      let bytes = codes.get(key)
      if (!bytes) {
        bytes = reader.codeByHash(hash)
        if (codes.size >= MAX_CACHED_CODES) codes.clear()
        codes.set(key, bytes)
      }
      return bytes
    },
  }
}
