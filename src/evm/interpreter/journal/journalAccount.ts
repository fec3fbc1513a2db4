import { EMPTY_CODE_HASH } from '../../../chain/eth/emptyHashes.js'
import type { StateAccount } from '../../../chain/eth/stateAccount.js'
import type { StoredSlots } from '../../state/stateProvider.js'
import type { Code } from '../code.js'
import type { Account } from '../state.js'

/** The journal's data of an account in addition to its fields. Epochs are transaction numbers. */
export interface JournalAccount extends Account {
  /** Id of its storage in the slot table. */
  storage: number
  /** Its storage was cleared since the last `takeChanges`: the provider's slots are ignored. */
  cleared: boolean
  clearedSinceTouched: boolean
  /** False only if its storage is known to have always been empty. */
  mayHaveStorage: boolean
  code: Code | undefined // loaded on first use
  stored: StoredSlots | undefined // loaded on first use, if the provider has it
  warm: number // epoch
  created: number // epoch
  touched: number // epoch
  destructed: number // epoch
  marks: number
}

/** Bits of `marks`: changed since the last `takeChanges`, and since the last `takeTouched`. */
export const CHANGED = 1
export const TOUCHED = 2

/** The journal's entry of an account when first loaded. `stored` undefined: it does not exist. */
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

/** A complete account to set. Slots and values are big-endian, at most 32 bytes. */
export interface NewAccount {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  storage: { slot: Uint8Array; value: Uint8Array }[]
}
