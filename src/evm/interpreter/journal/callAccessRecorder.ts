import { compareBytes } from '../../../chain/eth/blockAccessList.js'
import type { AccessListEntry } from '../../../chain/eth/types.js'
import type { AccessRecorder } from '../state.js'
import type { AccountTable } from './accountTable.js'
import type { JournalAccount } from './journalAccount.js'
import type { SlotTable } from './slotTable.js'

/** Records what the instructions of a call access, for its access list (EIP-2930), those included that the gas was not enough
 *  for: with the list it may be. Valid as long as the journal's tables. */
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

  /** Leaves the account out: it is warm without a price. */
  created(): void {}

  slot(slot: number): void {
    this.accessedSlots.add(slot)
  }

  write(slot: number): void {
    this.accessedSlots.add(slot)
  }

  /** Does nothing: a call shows no changes. */
  endTransaction(): void {}

  /** What was accessed, sorted by address and slot. Contracts that the call created are left out unless it accessed their slots. */
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
