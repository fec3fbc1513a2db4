import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { asFixed, asList, asUint, DecodeError, decodeRlp, describeItem } from '../chain/eth/rlp.js'
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

/** An account as its leaf has it (Yellow Paper, 4.1). */
export interface AccountNode extends StateAccount {
  storageRoot: Uint8Array // 32
}

/** Decodes the RLP of an account. @throws DecodeError unless it is a nonce of at most 64 bits, a balance of at most 256
 *  bits and two hashes */
export function decodeAccount(rlp: Uint8Array): AccountNode {
  const [nonce, balance, storageRoot, codeHash] = asList(decodeRlp(rlp, 'account', ACCOUNT_ITEMS), 'account', 4, 4)
  return {
    nonce: asUint(nonce, 8, 'account.nonce'),
    balance: asUint(balance, 32, 'account.balance'),
    codeHash: asFixed(codeHash, HASH_BYTES, 'account.codeHash'),
    storageRoot: asFixed(storageRoot, HASH_BYTES, 'account.storageRoot'),
  }
}

const ACCOUNT_ITEMS = 16

/** Decodes the RLP of an account to its encoding in a leaf, with a storage trie of which only the root is known.
 *  @throws DecodeError as `decodeAccount` does */
export function packAccountRlp(rlp: Uint8Array): Uint8Array {
  const account = decodeAccount(rlp)
  const fields = new Uint8Array(MAX_FIELDS)
  const packed = fields.subarray(0, writeFields(fields, 0, account))
  const { storageRoot } = account
  return equalBytes(storageRoot, EMPTY_TRIE_ROOT) ? packed : concatBytes(packed, unknownNode(storageRoot))
}

/** Decodes the RLP of the value of a slot: 1 to 32 bytes without leading zeros. @throws DecodeError */
export function decodeSlotValue(rlp: Uint8Array): Uint8Array {
  const value = decodeRlp(rlp, 'slot', 1)
  if (value instanceof Uint8Array && value.length > 0 && value.length <= 32 && value[0] !== 0) return value
  throw new DecodeError('slot', `expected 1 to 32 bytes without leading zeros, got ${describeItem(value)}`)
}
