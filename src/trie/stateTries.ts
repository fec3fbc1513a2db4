import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { encodeRlp } from '../chain/eth/rlp.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { bigIntToBytes, EMPTY_BYTES, equalBytes } from '../lib/bytes.js'
import type { TrieNodeRef } from './nodeRef.js'
import { createPagedTries, type PagedTries, type TriePages, type TrieUpdate } from './stateTrie.js'

/** The tries of a state (Yellow Paper, 4.1): accounts, and the storage tries in the leaves of contracts. All share the
 *  same pages. */
export interface StateTries {
  /** Keys are address hashes, values come from `packAccount`. */
  readonly accounts: PagedTries
  /** Keys are slot hashes, values have no leading zeros. */
  readonly storage: PagedTries
}

/** The tries of a state in `pages`. */
export function createStateTries(pages: TriePages): StateTries {
  const storage = createPagedTries(pages, encodeRlp)
  const accounts = createPagedTries(pages, (stored) => accountRlp(stored, storage))
  return { accounts, storage }
}

/* Encoding of an account in its leaf: length of the nonce, plus 0x10 if there is code; length of the balance; nonce and
 * balance without leading zeros; the code hash, if there is code; the top node of the storage trie, if there is storage.
 * Fields equal in most accounts are omitted. */
const HAS_CODE = 0x10

/** Encodes an account with its storage trie for its leaf. */
function packAccount({ nonce, balance, codeHash }: StateAccount, storage: TrieNodeRef = EMPTY_BYTES): Uint8Array {
  const [nonceBytes, balanceBytes] = [bigIntToBytes(nonce), bigIntToBytes(balance)]
  const code = equalBytes(codeHash, EMPTY_CODE_HASH) ? EMPTY_BYTES : codeHash
  const out = new Uint8Array(2 + nonceBytes.length + balanceBytes.length + code.length + storage.length)
  out[0] = nonceBytes.length | (code.length > 0 ? HAS_CODE : 0)
  out[1] = balanceBytes.length
  let at = 2
  for (const part of [nonceBytes, balanceBytes, code, storage]) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/** The storage trie of an encoded account. */
export function storageOfPacked(stored: Uint8Array): TrieNodeRef | undefined {
  const at = 2 + (stored[0] & 0xf) + stored[1] + (stored[0] & HAS_CODE ? 32 : 0)
  return at === stored.length ? undefined : stored.subarray(at)
}

// List header, nonce and balance of up to 33 bytes with headers, two hashes with headers.
const rlp = new Uint8Array(2 + 34 + 34 + 33 + 33)

/** The RLP of nonce, balance, storage root and code hash of an encoded account, for hashing. Valid until the next call. */
export function accountRlp(stored: Uint8Array, storage: PagedTries): Uint8Array {
  const top = storageOfPacked(stored)
  const storageRoot = top === undefined ? EMPTY_TRIE_ROOT : storage.root(top)
  const nonceEnd = 2 + (stored[0] & 0xf)
  const balanceEnd = nonceEnd + stored[1]
  let at = writeInteger(stored, 2, nonceEnd, 2)
  at = writeInteger(stored, nonceEnd, balanceEnd, at)
  at = writeHash(storageRoot, 0, at)
  at = stored[0] & HAS_CODE ? writeHash(stored, balanceEnd, at) : writeHash(EMPTY_CODE_HASH, 0, at)
  // With two hashes it is longer than 55 bytes, and never longer than 255.
  rlp[0] = 0xf8
  rlp[1] = at - 2
  return rlp.subarray(0, at)
}

function writeInteger(bytes: Uint8Array, from: number, to: number, at: number): number {
  if (to - from !== 1 || bytes[from] >= 0x80) rlp[at++] = 0x80 + to - from
  for (let i = from; i < to; i++) rlp[at++] = bytes[i]
  return at
}

function writeHash(bytes: Uint8Array, from: number, at: number): number {
  rlp[at++] = 0xa0
  for (let i = 0; i < 32; i++) rlp[at++] = bytes[from + i]
  return at
}

/** A change of an account for `accounts.update`. */
export interface AccountUpdate {
  key: Uint8Array // hash of the address
  /** Null: it does not exist. */
  account: StateAccount | null
  /** Its storage is cleared before the slots are set. */
  cleared: boolean
  /** By hashes of slots. Read once. */
  readonly slots: TrieUpdate[]
  /** The storage trie of a new account, if it is built already. */
  storage?: TrieNodeRef
}

/** The change as an update of `accounts`. Calls `count` with 1 for a created account, with -1 for a deleted one. */
export function toTrieUpdate(
  { storage }: StateTries,
  update: AccountUpdate,
  count: (difference: number) => void,
): TrieUpdate {
  const { key, account, cleared, storage: made } = update
  const change = (before: Uint8Array | undefined): Uint8Array | undefined => {
    let top = before === undefined ? made : storageOfPacked(before)
    if ((cleared || account === null) && top !== undefined) {
      storage.free(top)
      top = undefined
    }
    if (account === null) {
      if (before !== undefined) count(-1)
      return undefined
    }
    if (before === undefined) count(1)
    return packAccount(account, storage.update(top, update.slots))
  }
  return { key, change }
}
