import { EMPTY_CODE_HASH } from '../../../chain/eth/emptyHashes.js'
import type { Log } from '../../../chain/eth/types.js'
import { equalBytes, keyOfBytes } from '../../../lib/bytes.js'
import type { StateChanges } from '../../../store/rows/stateChanges.js'
import type { StateAccess } from '../../../trie/stateAccess.js'
import type { TouchedAccount } from '../../../trie/touchedAccount.js'
import type { StateProvider } from '../../state/stateProvider.js'
import { type Code, type CodeObjects, createCode, EMPTY_CODE } from '../code.js'
import { MemoryMeter } from '../memoryMeter.js'
import type { EvmState } from '../state.js'
import { copyWord, LIMBS, setBytes, type Words, wordToBytes } from '../words/words.js'
import { AccountTable } from './accountTable.js'
import { BlockAccessRecorder } from './blockAccessRecorder.js'
import { CallAccessRecorder } from './callAccessRecorder.js'
import { CHANGED, type JournalAccount, type NewAccount, TOUCHED } from './journalAccount.js'
import { collectChanges, describeTouched } from './journalChanges.js'
import {
  BALANCE,
  CODE,
  CREATED,
  DESTRUCTED,
  EXISTS,
  isRipemd,
  LOG,
  NONCE,
  REFUND,
  SLOT,
  SLOT_WARM,
  TOUCH,
  TRANSIENT,
  undoAccount,
  WARM,
} from './journalUndo.js'
import { SlotTable } from './slotTable.js'
import { UndoLog } from './undoLog.js'

// Kept between transactions and blocks; beyond these, everything is dropped after `takeChanges`.
const MAX_ACCOUNTS = 100_000
const MAX_SLOTS = 500_000
// Epochs are stored as 32-bit integers.
const MAX_EPOCH = 2 ** 30

/** Which accesses of a block to return. */
export interface AccessOptions {
  /** True if the state trie changes only at the end of the block (EIP-658). */
  isFinal: boolean
  /** Recipients of transactions, 20 bytes each. */
  called: readonly Uint8Array[]
}

/** A state in memory over a state provider, with an undo log. Used for a sequence of transactions, or of calls with
 *  `reset` between them. */
export class Journal implements EvmState {
  logs: Log[] = []
  refund = 0
  recorder: BlockAccessRecorder | CallAccessRecorder | undefined
  readonly meter = new MemoryMeter()
  private backing: StateProvider
  private readonly codes: CodeObjects
  private epoch = 1
  private readonly accounts: AccountTable
  private readonly slots: SlotTable
  private readonly transient: SlotTable
  private readonly undo: UndoLog
  private loadedCodeBytes = 0
  private newCodes = new Set<Code>()
  private touchedNow: JournalAccount[] = [] // in this transaction
  /** The RIPEMD-160 precompile, if this transaction has touched it without value: also in a frame that failed. */
  private keptTouched: JournalAccount | undefined
  /** The account that EIP-161 does not remove. */
  private keptEmpty: JournalAccount | undefined
  private changedAccounts: JournalAccount[] = []
  private touchedAccounts: JournalAccount[] = []
  private readonly scratch: Words = new Int32Array(LIMBS)
  private readonly loaded: Words = new Int32Array(LIMBS)

  /** `codes` returns the code objects of hashes in the provider's accounts. */
  constructor(backing: StateProvider, codes: CodeObjects) {
    const { meter } = this
    this.backing = backing
    this.codes = codes
    this.accounts = new AccountTable((address) => this.backing.account(address)?.account, meter)
    this.slots = new SlotTable(meter)
    this.transient = new SlotTable(meter)
    this.undo = new UndoLog(meter)
  }

  account(address: Uint8Array): JournalAccount {
    return this.accounts.ofAddress(address)
  }

  accountOfWord(s: Words, a: number): JournalAccount {
    return this.accounts.ofWord(s, a)
  }

  code(account: JournalAccount): Code {
    if (account.code === undefined) {
      const { codeHash } = account
      account.code = equalBytes(codeHash, EMPTY_CODE_HASH) ? EMPTY_CODE : this.loadCode(codeHash)
    }
    return account.code
  }

  /** Accounts keep their code objects alive, evicted ones too. */
  private loadCode(codeHash: Uint8Array): Code {
    const code = this.codes.get(codeHash)
    this.meter.take(code.length)
    this.loadedCodeBytes += code.length
    return code
  }

  isEmpty({ exists, nonce, balance, codeHash }: JournalAccount): boolean {
    return !exists || (balance === 0n && nonce === 0n && equalBytes(codeHash, EMPTY_CODE_HASH))
  }

  isOccupied(account: JournalAccount, eip7610: boolean): boolean {
    if (account.nonce !== 0n || !equalBytes(account.codeHash, EMPTY_CODE_HASH)) return true
    return eip7610 && account.mayHaveStorage && !account.cleared && this.backing.hasStorage(account.address)
  }

  setBalance(account: JournalAccount, balance: bigint): void {
    this.undo.pushObject(account.balance, account.id, BALANCE)
    account.balance = balance
    this.markTouched(account)
    this.mark(account)
  }

  setNonce(account: JournalAccount, nonce: bigint): void {
    this.undo.pushObject(account.nonce, account.id, NONCE)
    account.nonce = nonce
    this.markTouched(account)
    this.mark(account)
  }

  setCode(account: JournalAccount, code: Code): void {
    this.undo.pushObject({ code: account.code, codeHash: account.codeHash }, account.id, CODE)
    account.code = code
    account.codeHash = code.length === 0 ? EMPTY_CODE_HASH : code.hash
    if (code.length > 0) this.newCodes.add(code)
    this.markTouched(account)
    this.mark(account)
  }

  touch(account: JournalAccount): void {
    this.markTouched(account)
    if (isRipemd(account)) this.keptTouched = account
  }

  private markTouched(account: JournalAccount): void {
    if (!account.exists) {
      this.undo.push(0, account.id, EXISTS)
      account.exists = true
      this.mark(account)
    }
    if (account.touched === this.epoch) return
    this.undo.push(account.touched, account.id, TOUCH)
    account.touched = this.epoch
    this.touchedNow.push(account)
  }

  create(account: JournalAccount): void {
    this.markTouched(account)
    this.undo.push(account.created, account.id, CREATED)
    account.created = this.epoch
  }

  wasCreated(account: JournalAccount): boolean {
    return account.created === this.epoch
  }

  destruct(account: JournalAccount): boolean {
    this.markTouched(account)
    if (account.destructed === this.epoch) return false
    this.undo.push(account.destructed, account.id, DESTRUCTED)
    account.destructed = this.epoch
    return true
  }

  warmAccount(account: JournalAccount): boolean {
    if (account.warm === this.epoch) return false
    this.undo.push(account.warm, account.id, WARM)
    account.warm = this.epoch
    return true
  }

  warmSlot(slot: number): boolean {
    const { warm } = this.slots
    if (warm[slot] === this.epoch) return false
    this.undo.push(warm[slot], slot, SLOT_WARM)
    warm[slot] = this.epoch
    return true
  }

  slot(account: JournalAccount, s: Words, a: number): number {
    const { slots } = this
    let slot = slots.keys.find(account.storage, s, a)
    if (slot < 0) {
      // Read first, so that an aborted read leaves no entry.
      const stored = !account.cleared && account.mayHaveStorage
      if (stored) this.loadSlot(account, s, a)
      slot = slots.add(account.storage, s, a, account.id)
      if (stored) copyWord(this.loaded, 0, slots.current, slot * LIMBS)
    }
    return slot
  }

  /** Loads the slot of a stored account that the word at `a` of `s` names into `loaded`. */
  private loadSlot(account: JournalAccount, s: Words, a: number): void {
    const { backing, loaded } = this
    if (backing.slotsOf !== undefined) {
      account.stored ??= backing.slotsOf(account.address)
      account.stored.read(s, a, loaded, 0)
      return
    }
    const value = backing.storage(account.address, wordToBytes(s, a))
    setBytes(loaded, 0, value, 0, value.length)
  }

  readSlot(slot: number, s: Words, a: number): void {
    copyWord(this.slots.current, slot * LIMBS, s, a)
  }

  writeSlot(slot: number, s: Words, a: number): void {
    const { slots } = this
    slots.keepOriginal(slot, this.epoch)
    this.undo.pushWord(slots.current, slot * LIMBS, slot, SLOT)
    copyWord(s, a, slots.current, slot * LIMBS)
    slots.mark(slot)
    const account = this.accounts.all[slots.owners[slot]]
    account.mayHaveStorage = true
    this.mark(account)
  }

  slotChange(slot: number, s: Words, a: number): number {
    this.slots.keepOriginal(slot, this.epoch)
    return this.slots.change(slot, s, a)
  }

  readTransient(account: JournalAccount, s: Words, key: number, to: number): void {
    const slot = this.transient.keys.find(account.id, s, key)
    if (slot < 0) s.fill(0, to, to + LIMBS)
    else copyWord(this.transient.current, slot * LIMBS, s, to)
  }

  writeTransient(account: JournalAccount, s: Words, key: number, value: number): void {
    const { transient } = this
    let slot = transient.keys.find(account.id, s, key)
    if (slot < 0) slot = transient.add(account.id, s, key, account.id)
    this.undo.pushWord(transient.current, slot * LIMBS, slot, TRANSIENT)
    copyWord(s, value, transient.current, slot * LIMBS)
  }

  addLog(log: Log): void {
    this.undo.push(0, 0, LOG)
    this.logs.push(log)
  }

  addRefund(gas: number): void {
    this.undo.pushObject(this.refund, 0, REFUND)
    this.refund += gas
  }

  snapshot(): number {
    return this.undo.length
  }

  revert(snapshot: number): void {
    const { undo } = this
    while (undo.length > snapshot) {
      const kind = undo.popNumber()
      const id = undo.popNumber()
      if (kind === SLOT) undo.popWord(this.slots.current, id * LIMBS)
      else if (kind === TRANSIENT) undo.popWord(this.transient.current, id * LIMBS)
      else if (kind === SLOT_WARM) this.slots.warm[id] = undo.popNumber()
      else if (kind === LOG) {
        undo.popNumber()
        this.logs.pop()
      } else if (kind === REFUND) this.refund = undo.popObject() as number
      else undoAccount(undo, this.accounts.all[id], kind)
    }
  }

  /** Records the accesses of a block, until the next call of this method or `clear`. */
  recordAccesses(wanted: boolean): BlockAccessRecorder | undefined {
    const recorder = wanted ? new BlockAccessRecorder(this.slots, this.accounts) : undefined
    this.recorder = recorder
    return recorder
  }

  /** Records what the instructions of a call access, until `recordAccesses(false)` or `clear`. */
  recordCallAccesses(): CallAccessRecorder {
    const recorder = new CallAccessRecorder({ slots: this.slots, accounts: this.accounts })
    this.recorder = recorder
    return recorder
  }

  /** Sets the account, 20 bytes, that `endTransaction` does not remove while it is empty, until the next call or
   *  `clear`; undefined for none. */
  keepEmpty(address: Uint8Array | undefined): void {
    this.keptEmpty = address && this.account(address)
  }

  /** Ends a transaction: removes destructed accounts (`eip8246` keeps their balance) and, with `deleteEmpty`, touched
   *  empty ones (EIP-161). Clears warm sets, transient storage, logs and the refund. Nothing can be reverted
   *  afterwards. */
  endTransaction(deleteEmpty: boolean, eip8246 = false): void {
    if (this.keptTouched !== undefined) this.keptTouched.touched = this.epoch
    this.keptTouched = undefined
    const { recorder } = this
    if (recorder instanceof BlockAccessRecorder && this.newCodes.size > 0)
      for (const code of this.codesWrittenNow()) recorder.wroteCode(code)
    for (const account of this.touchedNow) {
      if (account.touched !== this.epoch) continue
      const isDestructed = account.destructed === this.epoch
      if (isDestructed && eip8246) this.empty(account)
      const isRemoved = deleteEmpty && account.exists && this.isEmpty(account) && account !== this.keptEmpty
      if ((isDestructed && !eip8246) || isRemoved) this.delete(account)
    }
    this.recorder?.endTransaction(this.touchedNow)
    this.touchedNow = []
    this.transient.clear()
    this.undo.clear()
    this.logs = []
    this.refund = 0
    this.epoch++
  }

  /** New code of accounts in the running transaction, without what was reverted. */
  private *codesWrittenNow(): Generator<Code> {
    for (const { touched, code } of this.touchedNow) {
      if (touched === this.epoch && code !== undefined && this.newCodes.has(code)) yield code
    }
  }

  /** True if the block has written this code before. Only while `recordAccesses` records. */
  wroteCode(codeHash: Uint8Array): boolean {
    if (this.newCodes.size === 0) return false
    const { recorder } = this
    if (recorder instanceof BlockAccessRecorder && recorder.hasWritten(codeHash)) return true
    for (const { hash } of this.codesWrittenNow()) if (equalBytes(hash, codeHash)) return true
    return false
  }

  /** Removes all but the balance (EIP-8246). */
  private empty(account: JournalAccount): void {
    account.nonce = 0n
    account.code = EMPTY_CODE
    account.codeHash = EMPTY_CODE_HASH
    this.mark(account)
    if (account.mayHaveStorage) this.clearStorage(account)
  }

  private delete(account: JournalAccount): void {
    this.empty(account)
    account.exists = false
    account.balance = 0n
  }

  /** Drops the account's slots, including stored ones. Cannot be reverted: only between transactions. */
  clearStorage(account: JournalAccount): void {
    this.mark(account)
    account.storage = this.accounts.newStorage()
    account.cleared = true
    account.clearedSinceTouched = true
    account.mayHaveStorage = false
  }

  private mark(account: JournalAccount): void {
    if ((account.marks & CHANGED) === 0) this.changedAccounts.push(account)
    if ((account.marks & TOUCHED) === 0) this.touchedAccounts.push(account)
    account.marks |= CHANGED | TOUCHED
  }

  /** Differences from the state provider since the last call. The caller must store them in the provider, from which
   *  the journal then reads them. Only between transactions. */
  takeChanges(): StateChanges {
    const changes: StateChanges = { accounts: [], storage: [], codes: [] }
    const slotsOf = this.slots.takeChanged()
    const { backing, slots, newCodes } = this
    const parts = { backing, slots, newCodes }
    for (const account of this.changedAccounts) {
      account.marks &= ~CHANGED
      collectChanges(parts, account, slotsOf.get(account.id) ?? [], changes)
      account.cleared = false
    }
    this.changedAccounts = []
    this.newCodes = new Set()
    if (this.accounts.all.length > MAX_ACCOUNTS || this.slots.keys.count > MAX_SLOTS || this.epoch > MAX_EPOCH)
      this.clear()
    return changes
  }

  /** Accounts and slots touched since the last call of this method, for hashing the state: see `stateRoot`. */
  takeTouched(): TouchedAccount[] {
    const out: TouchedAccount[] = []
    const slotsOf = this.slots.takeTouched()
    for (const account of this.touchedAccounts) {
      account.marks &= ~TOUCHED
      out.push(describeTouched(this.slots, account, slotsOf.get(account.id) ?? []))
      account.clearedSinceTouched = false
    }
    this.touchedAccounts = []
    return out
  }

  /** Returns the accounts and slots that `recordAccesses` has recorded, the `called` accounts and those that changed;
   *  and which of them do not exist now. What was loaded for other reasons is omitted: the caller of system calls, and
   *  entries of access lists that no instruction accessed. Without `isFinal` all count as deleted, because they may
   *  have been in between. */
  accesses({ isFinal, called }: AccessOptions): StateAccess[] {
    const { recorder } = this
    if (!(recorder instanceof BlockAccessRecorder)) throw new Error('the accesses of the block are not recorded')
    const slotsOf = this.slots.all()
    const wanted = new Set(called.map((address) => this.account(address)))
    return this.accounts.all.flatMap((account): StateAccess[] => {
      const slots = new Map<string, StateAccess['slots'][number]>()
      for (const id of slotsOf.get(account.id) ?? []) {
        if (!recorder.hasSlot(id)) continue
        const slot = this.slots.keyBytes(id)
        const isCurrent = this.slots.keys.spaceOf(id) === account.storage
        // A cleared storage has another trie.
        const isEmpty = isCurrent && !account.cleared && this.slots.valueBytes(id).length === 0
        const key = keyOfBytes(slot)
        slots.set(key, { slot, isDeleted: !isFinal || isEmpty || (slots.get(key)?.isDeleted ?? false) })
      }
      const isChanged = (account.marks & CHANGED) !== 0
      if (!(isChanged || recorder.has(account) || wanted.has(account) || slots.size > 0)) return []
      return [{ address: account.address, isDeleted: !isFinal || !account.exists, slots: [...slots.values()] }]
    })
  }

  /** Undoes everything since the journal was created or reset. Keeps what was read for the next user, unless it exceeds
   *  `most`. Not for journals whose `takeChanges` is used. */
  rewind(most: { accounts: number; slots: number; codeBytes: number }): void {
    const { accounts, slots, loadedCodeBytes: codeBytes } = this
    const isMore = accounts.all.length > most.accounts || slots.keys.count > most.slots || codeBytes > most.codeBytes
    if (isMore || this.epoch > MAX_EPOCH) {
      this.clear()
      return
    }
    this.revert(0)
    this.touchedNow = []
    this.keptTouched = undefined
    this.newCodes.clear()
    this.transient.clear()
    this.undo.clear()
    this.epoch++
  }

  /** Drops everything in memory. Only after `takeChanges`, or to discard all changes. */
  clear(): void {
    this.accounts.clear()
    this.slots.clear()
    this.transient.clear()
    this.undo.clear()
    this.loadedCodeBytes = 0
    this.newCodes = new Set()
    this.touchedNow = []
    this.keptTouched = undefined
    this.keptEmpty = undefined
    this.changedAccounts = []
    this.touchedAccounts = []
    this.logs = []
    this.refund = 0
    this.recorder = undefined
    this.epoch = 1
  }

  /** Drops everything and continues over another state provider. */
  reset(backing: StateProvider): void {
    this.clear()
    this.backing = backing
  }

  /** Sets an account with code and storage, for a genesis or a test; outside transactions. */
  putAccount(address: Uint8Array, { nonce, balance, code, storage }: NewAccount): void {
    const account = this.account(address)
    account.exists = true
    account.nonce = nonce
    account.balance = balance
    if (code.length > 0) this.setCode(account, createCode(code))
    this.mark(account)
    for (const { slot, value } of storage) {
      setBytes(this.scratch, 0, slot, 0, slot.length)
      const id = this.slot(account, this.scratch, 0)
      setBytes(this.scratch, 0, value, 0, value.length)
      this.writeSlot(id, this.scratch, 0)
    }
    this.undo.clear()
  }
}
