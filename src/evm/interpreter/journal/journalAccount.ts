import { EMPTY_CODE_HASH } from '../../../chain/eth/emptyHashes.js'
import type { StateAccount } from '../../../chain/eth/stateAccount.js'
import type { StoredSlots } from '../../state/stateProvider.js'
import type { Code } from '../code.js'
import type { Account } from '../state.js'

/** What the journal knows of an account beside its fields. Epochs are numbers of transactions. */
export interface JournalAccount extends Account {
  /** Names its storage in the table of slots. */
  storage: number
  /** Its storage was emptied since the last `takeChanges`: the backing's slots are not looked at. */
  cleared: boolean
  clearedSinceTouched: boolean
  /** Its storage is or was not empty, as far as is known. */
  mayHaveStorage: boolean
  code: Code | undefined // loaded when it is asked for
  stored: StoredSlots | undefined // the same; where the backing has it
  warm: number // epoch
  created: number // epoch
  touched: number // epoch
  destructed: number // epoch
  marks: number
}

/** In marks: differs since the last `takeChanges`, and since the last `takeTouched`. */
export const CHANGED = 1
export const TOUCHED = 2

/** What the journal knows of an account when it first comes to it. `stored` undefined: it does not exist. */
export function createJournalAccount(
  stored: StateAccount | undefined,
  fixed: Pick<JournalAccount, 'id' | 'address' | 'word' | 'storage'>,
): JournalAccount {
  return {
    id: fixed.id,
    address: fixed.address,
    word: fixed.word,
    exists: stored !== undefined,
    nonce: stored?.nonce ?? 0n,
    balance: stored?.balance ?? 0n,
    codeHash: stored?.codeHash ?? EMPTY_CODE_HASH,
    storage: fixed.storage,
    cleared: false,
    clearedSinceTouched: false,
    mayHaveStorage: stored !== undefined,
    code: undefined,
    stored: undefined,
    warm: 0,
    created: 0,
    touched: 0,
    destructed: 0,
    marks: 0,
  }
}

/** An account to be set as a whole. Slots and values are big-endian, of at most 32 bytes. */
export interface NewAccount {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  storage: { slot: Uint8Array; value: Uint8Array }[]
}
