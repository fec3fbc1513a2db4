import { encodeRlp } from '../chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { keyOfBytes } from '../lib/bytes.js'
import { keccak256 } from '../lib/crypto.js'
import { LATEST, type StateReader } from '../store/stateReader.js'
import { EMPTY_CODE_HASH } from './stateBacking.js'
import { createStateTrie, type StateTrie } from './stateTrie.js'
import type { TouchedAccount } from './touched.js'

/** The root of the newest state (Yellow Paper, 4.1), kept up with every block. The account trie lies in memory; storage
 *  tries are built from the database when their account's storage changes. */
export interface StateRoot {
  /** The root after the touched accounts are as given: 32 bytes. */
  update(touched: TouchedAccount[]): Uint8Array
  /** Drops storage tries beyond the bound. Only at a block's end, when the database holds all that they hold. */
  trim(): void
}

// Storage tries kept in memory, in the order of their last use.
const MAX_STORAGE_TRIES = 2000

/** The state root over the stored state as it is now. The whole state is read. */
export function createStateRoot(reader: StateReader): StateRoot {
  const accounts = createStateTrie()
  const storageTries = new Map<string, StateTrie>()
  // Roots of accounts whose storage is not empty.
  const storageRoots = new Map<string, Uint8Array>()

  for (const { address, account } of reader.latestAccounts()) {
    let storageRoot = EMPTY_TRIE_ROOT
    if (reader.hasStorage(account.addressId, account.incarnation)) {
      storageRoot = buildStorageTrie(reader, address).root()
      if (storageRoot !== EMPTY_TRIE_ROOT) storageRoots.set(keyOfBytes(address), storageRoot)
    }
    const codeHash = account.codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(account.codeId)
    accounts.put(keccak256(address), encodeAccount(account.nonce, account.balance, storageRoot, codeHash))
  }

  const storageTrieOf = (address: Uint8Array, empty: boolean): StateTrie => {
    const key = keyOfBytes(address)
    const trie =
      (empty ? undefined : storageTries.get(key)) ?? (empty ? createStateTrie() : buildStorageTrie(reader, address))
    storageTries.delete(key) // to the end: the last used
    storageTries.set(key, trie)
    return trie
  }
  const apply = ({ address, account, cleared, slots }: TouchedAccount) => {
    const key = keyOfBytes(address)
    if (account === null) {
      accounts.put(keccak256(address), new Uint8Array(0))
      storageTries.delete(key)
      storageRoots.delete(key)
      return
    }
    if (cleared || slots.length > 0) {
      const trie = storageTrieOf(address, cleared)
      for (const { slot, value } of slots) trie.put(keccak256(slot), value.length === 0 ? value : encodeRlp(value))
      storageRoots.set(key, trie.root())
    }
    const storageRoot = storageRoots.get(key) ?? EMPTY_TRIE_ROOT
    accounts.put(keccak256(address), encodeAccount(account.nonce, account.balance, storageRoot, account.codeHash))
  }
  return {
    update: (touched) => {
      for (const account of touched) apply(account)
      return accounts.root()
    },
    trim: () => {
      for (const key of storageTries.keys()) {
        if (storageTries.size <= MAX_STORAGE_TRIES) break
        storageTries.delete(key)
      }
    },
  }
}

function buildStorageTrie(reader: StateReader, address: Uint8Array): StateTrie {
  const trie = createStateTrie()
  const account = reader.account(address, LATEST)?.account
  if (!account) return trie
  for (const { slot, value } of reader.latestStorage(account.addressId, account.incarnation)) {
    const word = new Uint8Array(32)
    word.set(slot, 32 - slot.length)
    trie.put(keccak256(word), encodeRlp(value))
  }
  return trie
}

function encodeAccount(nonce: bigint, balance: bigint, storageRoot: Uint8Array, codeHash: Uint8Array): Uint8Array {
  return encodeRlp([nonce, balance, storageRoot, codeHash])
}
