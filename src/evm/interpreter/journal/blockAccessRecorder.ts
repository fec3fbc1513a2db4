import type { AccountAccess, BlockAccessList, IndexedChange } from '../../../chain/eth/blockAccessList.js'
import { compareBytes, EMPTY_BYTES, equalBytes, keyOfBytes } from '../../../lib/bytes.js'
import { type Code, codeBytes, EMPTY_CODE } from '../code.js'
import type { AccessRecorder } from '../state.js'
import type { AccountTable } from './accountTable.js'
import type { JournalAccount } from './journalAccount.js'
import type { SlotTable } from './slotTable.js'

/** An account of the list, with its fields at the first access. */
interface AccountRecord {
  readonly balance: bigint
  readonly nonce: bigint
  readonly codeHash: Uint8Array
  readonly balances: IndexedChange<bigint>[]
  readonly nonces: IndexedChange<bigint>[]
  readonly codes: (IndexedChange<Uint8Array> & { hash: Uint8Array })[]
}

/** A written slot: its value before the block, and those after transactions, without leading zeros. */
interface SlotRecord {
  readonly before: Uint8Array
  readonly values: IndexedChange<Uint8Array>[]
}

/* Bits of `seen`. */
const ACCESSED = 1
const WRITTEN = 2 // at the current index

/** Records what a block accesses and changes, for its access list (EIP-7928) and its witness. An account must be
 *  recorded before it is changed. Valid as long as the journal's tables. */
export class BlockAccessRecorder implements AccessRecorder {
  /** Index of the running transaction, from 1; 0 before the first one, one more than their number after the last
   *  one. */
  index = 0
  private readonly slots: SlotTable
  private readonly accounts: AccountTable
  private readonly records = new Map<JournalAccount, AccountRecord>()
  private seen = new Uint8Array(1024) // by slot id
  private readonly accessed: number[] = []
  private written: number[] = []
  private readonly slotRecords = new Map<number, SlotRecord>()
  private readonly writtenCodes = new Set<string>()

  constructor(slots: SlotTable, accounts: AccountTable) {
    this.slots = slots
    this.accounts = accounts
  }

  account(account: JournalAccount, isPaid = true): void {
    if (!isPaid || this.records.has(account)) return
    const { balance, nonce, codeHash } = account
    this.records.set(account, { balance, nonce, codeHash, balances: [], nonces: [], codes: [] })
  }

  created(account: JournalAccount): void {
    this.account(account)
  }

  slot(slot: number, isPaid = true): void {
    if (!isPaid) return
    if (slot >= this.seen.length) this.grow(slot)
    if (this.seen[slot] !== 0) return
    this.seen[slot] = ACCESSED
    this.accessed.push(slot)
  }

  write(slot: number): void {
    this.slot(slot)
    if ((this.seen[slot] & WRITTEN) !== 0) return
    this.seen[slot] |= WRITTEN
    this.written.push(slot)
    if (!this.slotRecords.has(slot)) this.slotRecords.set(slot, { before: this.slots.valueBytes(slot), values: [] })
  }

  /** A transaction that ends has written the code. */
  wroteCode({ hash }: Code): void {
    this.writtenCodes.add(keyOfBytes(hash))
  }

  /** True if a transaction that has ended wrote the code. */
  hasWritten(codeHash: Uint8Array): boolean {
    return this.writtenCodes.has(keyOfBytes(codeHash))
  }

  /** Records the changes of a transaction. Called at its end, with the accounts that it touched. */
  endTransaction(touched: readonly JournalAccount[]): void {
    const { index } = this
    for (const account of touched) {
      const record = this.records.get(account)
      if (record === undefined) continue
      noteChange(record.balances, index, account.balance, (before) => (before ?? record.balance) === account.balance)
      noteChange(record.nonces, index, account.nonce, (before) => (before ?? record.nonce) === account.nonce)
      this.noteCode(record, account)
    }
    for (const slot of this.written) {
      this.seen[slot] &= ~WRITTEN
      const { before: first, values } = this.slotRecords.get(slot)!
      const value = this.isCleared(slot) ? EMPTY_BYTES : this.slots.valueBytes(slot)
      noteChange(values, index, value, (before) => equalBytes(before ?? first, value))
    }
    this.written = []
  }

  private noteCode({ codes, codeHash }: AccountRecord, account: JournalAccount): void {
    const { index } = this
    if (codes.at(-1)?.index === index) codes.pop()
    const hash = codes.at(-1)?.hash ?? codeHash
    if (equalBytes(hash, account.codeHash)) return
    codes.push({ index, value: codeBytes(account.code ?? EMPTY_CODE).slice(), hash: account.codeHash })
  }

  /** True if the storage that the slot belongs to was cleared. */
  private isCleared(slot: number): boolean {
    return this.slots.keys.spaceOf(slot) !== this.accounts.all[this.slots.owners[slot]].storage
  }

  private grow(slot: number): void {
    const seen = new Uint8Array(Math.max(slot + 1, 2 * this.seen.length))
    seen.set(this.seen)
    this.seen = seen
  }

  /** True for a recorded account. */
  has(account: JournalAccount): boolean {
    return this.records.has(account)
  }

  /** True for a recorded slot, by its id. */
  hasSlot(slot: number): boolean {
    return slot < this.seen.length && this.seen[slot] !== 0
  }

  /** Returns the recorded access list, sorted. */
  list(): BlockAccessList {
    const slotsOf = new Map<number, number[]>()
    for (const slot of this.accessed) {
      const owner = this.slots.owners[slot]
      const own = slotsOf.get(owner)
      if (own === undefined) slotsOf.set(owner, [slot])
      else own.push(slot)
    }
    return Array.from(this.records, ([{ address, id }, record]) => ({
      address,
      ...this.slotsOf(slotsOf.get(id) ?? []),
      balanceChanges: record.balances,
      nonceChanges: record.nonces,
      codeChanges: record.codes.map(({ index, value }) => ({ index, value })),
    })).sort((a, b) => compareBytes(a.address, b.address))
  }

  /** Changes and reads of one account's slots. An account that was deleted and created again has a slot twice. */
  private slotsOf(ids: readonly number[]): Pick<AccountAccess, 'storageChanges' | 'storageReads'> {
    const storageChanges: AccountAccess['storageChanges'][number][] = []
    const storageReads: Uint8Array[] = []
    const sorted = ids
      .map((id) => ({ slot: this.slots.keyBytes(id), changes: this.slotRecords.get(id)?.values ?? NO_CHANGES }))
      .sort((a, b) => compareBytes(a.slot, b.slot))
    for (let i = 0; i < sorted.length; i++) {
      let { slot, changes } = sorted[i]
      while (i + 1 < sorted.length && equalBytes(slot, sorted[i + 1].slot)) {
        changes = [...changes, ...sorted[++i].changes].sort((a, b) => a.index - b.index)
      }
      if (changes.length > 0) storageChanges.push({ slot, changes })
      else storageReads.push(slot)
    }
    return { storageChanges, storageReads }
  }
}

const NO_CHANGES: readonly IndexedChange<Uint8Array>[] = []

/** Appends the value unless `isSame` is true for the value before the index, undefined without an earlier change. Two
 *  ends of transactions may have the same index. */
function noteChange<T>(
  changes: IndexedChange<T>[],
  index: number,
  value: T,
  isSame: (before: T | undefined) => boolean,
): void {
  if (changes.at(-1)?.index === index) changes.pop()
  if (!isSame(changes.at(-1)?.value)) changes.push({ index, value })
}
