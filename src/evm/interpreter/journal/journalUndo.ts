import type { Code } from '../code.js'
import type { JournalAccount } from './journalAccount.js'
import type { UndoLog } from './undoLog.js'

/** Kinds of undo entries. */
export const SLOT = 0
export const SLOT_WARM = 1
export const BALANCE = 2
export const NONCE = 3
export const CODE = 4
export const EXISTS = 5
export const WARM = 6
export const TOUCH = 7
export const CREATED = 8
export const DESTRUCTED = 9
export const TRANSIENT = 10
export const LOG = 11
export const REFUND = 12

const RIPEMD_LIMB = 3

/** True for the RIPEMD-160 precompile. A mainnet block touched it in a call without value that ran out of gas, and two
 *  clients kept it touched; now all do (EIP-161, discussion of block 2,675,119). */
export function isRipemd({ word }: JournalAccount): boolean {
  return word[0] === RIPEMD_LIMB && (word[1] | word[2] | word[3] | word[4]) === 0
}

/** Restores a field of an account from the last entry of the log, whose kind and id have been read. */
export function undoAccount(undo: UndoLog, account: JournalAccount, kind: number): void {
  if (kind === BALANCE) account.balance = undo.popObject() as bigint
  else if (kind === NONCE) account.nonce = undo.popObject() as bigint
  else if (kind === CODE) {
    const before = undo.popObject() as { code: Code | undefined; codeHash: Uint8Array }
    account.code = before.code
    account.codeHash = before.codeHash
  } else {
    const before = undo.popNumber()
    if (kind === EXISTS) account.exists = false
    else if (kind === WARM) account.warm = before
    // It stays in the journal's list of touched accounts, but its epoch excludes it.
    else if (kind === TOUCH) account.touched = before
    else if (kind === CREATED) account.created = before
    else if (kind === DESTRUCTED) account.destructed = before
  }
}
