import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { decodeAccount } from '../chain/eth/proof.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { concatBytes, equalBytes, writeBigInt } from '../lib/bytes.js'
import { unknownNode } from './nodeFormat.js'

/* Encoding of an account in its leaf: length of the nonce, plus 0x10 if there is code; length of the balance; nonce and
 * balance without leading zeros; the code hash, if there is code; the top node of the storage trie, if there is
 * storage. Fields equal in most accounts are omitted. */

export const HAS_CODE = 0x10
export const HASH_BYTES = 32

/** Length of the longest encoding without storage. */
export const MAX_FIELDS = 2 + 15 + 32 + HASH_BYTES

/** Writes an account without its storage at `at`; returns its end. */
export function writeFields(out: Uint8Array, at: number, { nonce, balance, codeHash }: StateAccount): number {
  const nonceEnd = writeBigInt(out, at + 2, nonce)
  const balanceEnd = writeBigInt(out, nonceEnd, balance)
  const hasCode = codeHash !== EMPTY_CODE_HASH && !equalBytes(codeHash, EMPTY_CODE_HASH)
  out[at] = (nonceEnd - at - 2) | (hasCode ? HAS_CODE : 0)
  out[at + 1] = balanceEnd - nonceEnd
  if (!hasCode) return balanceEnd
  for (let i = 0; i < HASH_BYTES; i++) out[balanceEnd + i] = codeHash[i]
  return balanceEnd + HASH_BYTES
}

/** Returns the offset of the storage trie of the encoded account at `at`, even if it has none. */
export function endOfFields(bytes: Uint8Array, at: number): number {
  return at + 2 + (bytes[at] & 0xf) + bytes[at + 1] + (bytes[at] & HAS_CODE ? HASH_BYTES : 0)
}

/** Decodes the RLP of an account to its encoding in a leaf. Only the root of its storage trie is known.
 *  @throws DecodeError as `decodeAccount` does */
export function packAccountRlp(rlp: Uint8Array): Uint8Array {
  const account = decodeAccount(rlp)
  const fields = new Uint8Array(MAX_FIELDS)
  const packed = fields.subarray(0, writeFields(fields, 0, account))
  const { storageRoot } = account
  return equalBytes(storageRoot, EMPTY_TRIE_ROOT) ? packed : concatBytes(packed, unknownNode(storageRoot))
}
