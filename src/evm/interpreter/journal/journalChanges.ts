import { EMPTY_CODE_HASH } from '../../../chain/eth/emptyHashes.js'
import type { StateAccount } from '../../../chain/eth/stateAccount.js'
import { EMPTY_BYTES, equalBytes } from '../../../lib/bytes.js'
import type { StateChanges } from '../../../store/rows/stateChanges.js'
import type { TouchedAccount } from '../../../trie/touchedAccount.js'
import type { StateProvider } from '../../state/stateProvider.js'
import { type Code, codeBytes } from '../code.js'
import type { JournalAccount } from './journalAccount.js'
import type { SlotTable } from './slotTable.js'

/** Inputs of the change collection. */
export interface ChangeParts {
  backing: StateProvider
  slots: SlotTable
  /** Codes that were set; collected ones are removed. */
  newCodes: Set<Code>
}

/** Adds the differences of an account and its slots from the provider's state to `changes`. */
export function collectChanges(
  { backing, slots: table, newCodes }: ChangeParts,
  account: JournalAccount,
  slots: readonly number[],
  changes: StateChanges,
): void {
  const { address, exists, nonce, balance, cleared } = account
  const before = backing.account(address)
  const existed = before?.account !== undefined
  let incarnation = before?.incarnation ?? 0
  if (!exists) {
    if (existed) changes.accounts.push({ address, incarnation: incarnation + 1 })
    return
  }
  if (cleared && existed) incarnation += 1
  const fresh = !existed || incarnation !== before.incarnation
  if (fresh || !isSame(before.account!, account)) {
    const codeHash = equalBytes(account.codeHash, EMPTY_CODE_HASH) ? undefined : account.codeHash
    changes.accounts.push({ address, incarnation, account: { nonce, balance, codeHash } })
    const { code } = account
    if (code !== undefined && newCodes.delete(code)) changes.codes.push({ hash: code.hash, bytes: codeBytes(code) })
  }
  for (const id of slots) {
    if (table.keys.spaceOf(id) !== account.storage) continue // slot of a storage that was cleared afterwards
    const slot = table.keyBytes(id)
    const value = table.valueBytes(id)
    const old = fresh ? EMPTY_BYTES : backing.storage(address, slot)
    if (!equalBytes(old, value)) changes.storage.push({ address, incarnation, slot, value })
  }
}

function isSame(a: StateAccount, b: JournalAccount): boolean {
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash)
}

/** The current account and its touched slots, for hashing the state. */
export function describeTouched(table: SlotTable, account: JournalAccount, slots: readonly number[]): TouchedAccount {
  const { address, exists, nonce, balance, codeHash, clearedSinceTouched: cleared } = account
  return {
    address,
    account: exists ? { nonce, balance, codeHash } : null,
    cleared,
    slots: slots
      .filter((id) => table.keys.spaceOf(id) === account.storage)
      .map((id) => ({ slot: table.keyBytes(id), value: table.valueBytes(id) })),
  }
}
