import type { AccessListEntry } from '../../../chain/eth/types.js'
import { compareBytes } from '../../../lib/bytes.js'
import type { AccessRecorder } from '../state.js'
import type { AccountTable } from './accountTable.js'
import type { JournalAccount } from './journalAccount.js'
import type { SlotTable } from './slotTable.js'

/** Records what the instructions of a call access, for its access list (EIP-2930). Includes accesses that lacked gas,
 *  because the list may make them affordable. Valid as long as the journal's tables. */
export class CallAccessRecorder implements AccessRecorder {
  private readonly tables: { slots: SlotTable; accounts: AccountTable }
  private readonly accessed = new Set<JournalAccount>()
  private readonly accessedSlots = new Set<number>()

  constructor(tables: { slots: SlotTable; accounts: AccountTable }) {
    this.tables = tables
  }

  account(account: JournalAccount): void {
    this.accessed.add(account)
  }

  /** Does nothing: a created account is warm without a price. */
  created(): void {}

  slot(slot: number): void {
    this.accessedSlots.add(slot)
  }

  write(slot: number): void {
    this.accessedSlots.add(slot)
  }

  /** Does nothing: a call shows no changes. */
  endTransaction(): void {}

  /** Returns the accesses, sorted by address and slot. Omits contracts that the call created unless it accessed their
   *  slots. */
  accesses(wasCreated: (account: JournalAccount) => boolean): AccessListEntry[] {
    const { slots, accounts } = this.tables
    const keysOf = new Map<JournalAccount, Uint8Array[]>(Array.from(this.accessed, (account) => [account, []]))
    for (const slot of this.accessedSlots) {
      const account = accounts.all[slots.owners[slot]]
      const keys = keysOf.get(account) ?? []
      keysOf.set(account, keys)
      keys.push(slots.keyBytes(slot))
    }
    return Array.from(keysOf)
      .filter(([account, keys]) => keys.length > 0 || !wasCreated(account))
      .map(([{ address }, keys]) => ({ address, storageKeys: keys.sort(compareBytes) }))
      .sort((a, b) => compareBytes(a.address, b.address))
  }
}
