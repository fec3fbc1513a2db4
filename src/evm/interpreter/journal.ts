import type { Log } from '../../chain/eth/types.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import type { StateChanges } from '../../store/chainWriter.js'
import { type BaseAccount, EMPTY_CODE_HASH, type StateBacking } from '../stateBacking.js'
import type { TouchedAccount } from '../touched.js'
import { type Code, type CodeObjects, codeBytes, createCode, EMPTY_CODE } from './code.js'
import { SlotTable } from './slotTable.js'
import {
  type Account,
  CURRENT_IS_ORIGINAL,
  CURRENT_ZERO,
  type EvmState,
  NEW_IS_CURRENT,
  NEW_IS_ORIGINAL,
  NEW_ZERO,
  ORIGINAL_ZERO,
} from './state.js'
import { UndoLog } from './undoLog.js'
import { copyWord, LIMBS, setBytes, type Words, wordToBytes } from './words.js'
import { WordTable } from './wordTable.js'

/** What the journal knows of an account beside its fields. Epochs are numbers of transactions. */
interface JournalAccount extends Account {
  /** Names its storage in the table of slots. */
  storage: number
  /** Its storage was emptied since the last `takeChanges`: the backing's slots are not looked at. */
  cleared: boolean
  clearedSinceTouched: boolean
  /** Its storage is or was not empty, as far as is known. */
  mayHaveStorage: boolean
  code: Code | undefined // loaded when it is asked for
  warm: number // epoch
  created: number // epoch
  touched: number // epoch
  destructed: number // epoch
  marks: number
}

/** In marks: differs since the last `takeChanges`, and since the last `takeTouched`. */
const CHANGED = 1
const TOUCHED = 2

// What an undo entry puts back.
const SLOT = 0
const SLOT_WARM = 1
const BALANCE = 2
const NONCE = 3
const CODE = 4
const EXISTS = 5
const WARM = 6
const TOUCH = 7
const CREATED = 8
const DESTRUCTED = 9
const STORAGE = 10
const TRANSIENT = 11
const LOG = 12
const REFUND = 13

// Kept between transactions and blocks; beyond it everything is forgotten after `takeChanges`.
const MAX_ACCOUNTS = 100_000
const MAX_SLOTS = 500_000
// Epochs are kept as integers of 32 bits.
const MAX_EPOCH = 2 ** 30

/** The precompile of RIPEMD-160. A block of mainnet touched it in a call that ran out of gas, and two clients kept it
 *  touched; all do since (EIP-161, discussion of block 2,675,119). */
const RIPEMD_LIMB = 3

/** A state in memory over a backing one, with an undo log. One for a sequence of transactions, or of calls with `reset`
 *  between them. */
export class Journal implements EvmState {
  logs: Log[] = []
  refund = 0
  private backing: StateBacking
  private readonly codes: CodeObjects
  private epoch = 1
  private readonly accountIds = new WordTable()
  private accounts: JournalAccount[] = []
  private readonly slots = new SlotTable()
  private readonly transient = new SlotTable()
  private readonly undo = new UndoLog()
  private newCodes = new Set<Code>()
  private nextStorage = 0
  private touchedNow: JournalAccount[] = [] // in this transaction
  private changedAccounts: JournalAccount[] = []
  private touchedAccounts: JournalAccount[] = []
  private readonly scratch: Words = new Int32Array(LIMBS)

  /** `codes` gives the code objects of hashes that the backing's accounts name. */
  constructor(backing: StateBacking, codes: CodeObjects) {
    this.backing = backing
    this.codes = codes
  }

  account(address: Uint8Array): JournalAccount {
    setBytes(this.scratch, 0, address, 0, 20)
    return this.accountOfScratch()
  }

  accountOfWord(s: Words, a: number): JournalAccount {
    const { scratch } = this
    scratch[0] = s[a]
    scratch[1] = s[a + 1]
    scratch[2] = s[a + 2]
    scratch[3] = s[a + 3]
    scratch[4] = s[a + 4]
    return this.accountOfScratch()
  }

  private accountOfScratch(): JournalAccount {
    const { scratch } = this
    scratch[5] = 0
    scratch[6] = 0
    scratch[7] = 0
    const id = this.accountIds.find(0, scratch, 0)
    return id >= 0 ? this.accounts[id] : this.load()
  }

  private load(): JournalAccount {
    const { scratch } = this
    const address = wordToBytes(scratch, 0, 20)
    const stored = this.backing.account(address)?.account
    const account: JournalAccount = {
      id: this.accountIds.insert(0, scratch, 0),
      address,
      word: scratch.slice(),
      exists: stored !== undefined,
      nonce: stored?.nonce ?? 0n,
      balance: stored?.balance ?? 0n,
      codeHash: stored?.codeHash ?? EMPTY_CODE_HASH,
      storage: this.nextStorage++,
      cleared: false,
      clearedSinceTouched: false,
      mayHaveStorage: stored !== undefined,
      code: undefined,
      warm: 0,
      created: 0,
      touched: 0,
      destructed: 0,
      marks: 0,
    }
    this.accounts.push(account)
    return account
  }

  code(account: JournalAccount): Code {
    if (account.code === undefined) {
      const { codeHash } = account
      account.code = equalBytes(codeHash, EMPTY_CODE_HASH) ? EMPTY_CODE : this.codes.get(codeHash)
    }
    return account.code
  }

  isEmpty({ exists, nonce, balance, codeHash }: JournalAccount): boolean {
    return !exists || (balance === 0n && nonce === 0n && equalBytes(codeHash, EMPTY_CODE_HASH))
  }

  isOccupied(account: JournalAccount): boolean {
    if (account.nonce !== 0n || !equalBytes(account.codeHash, EMPTY_CODE_HASH)) return true
    return account.mayHaveStorage && !account.cleared && this.backing.hasStorage(account.address)
  }

  setBalance(account: JournalAccount, balance: bigint): void {
    this.undo.pushObject(account.balance, account.id, BALANCE)
    account.balance = balance
    this.touch(account)
    this.mark(account)
  }

  setNonce(account: JournalAccount, nonce: bigint): void {
    this.undo.pushObject(account.nonce, account.id, NONCE)
    account.nonce = nonce
    this.touch(account)
    this.mark(account)
  }

  setCode(account: JournalAccount, code: Code): void {
    this.undo.pushObject({ code: account.code, codeHash: account.codeHash }, account.id, CODE)
    account.code = code
    account.codeHash = code.length === 0 ? EMPTY_CODE_HASH : code.hash
    if (code.length > 0) this.newCodes.add(code)
    this.touch(account)
    this.mark(account)
  }

  touch(account: JournalAccount): void {
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
    this.touch(account)
    this.undo.push(account.created, account.id, CREATED)
    account.created = this.epoch
  }

  wasCreated(account: JournalAccount): boolean {
    return account.created === this.epoch
  }

  destruct(account: JournalAccount): boolean {
    this.setBalance(account, 0n)
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
      slot = slots.add(account.storage, s, a, account.id)
      if (!account.cleared && account.mayHaveStorage) {
        const value = this.backing.storage(account.address, wordToBytes(s, a))
        setBytes(slots.current, slot * LIMBS, value, 0, value.length)
      }
    }
    if (slots.epochs[slot] !== this.epoch) {
      slots.epochs[slot] = this.epoch
      copyWord(slots.current, slot * LIMBS, slots.original, slot * LIMBS)
    }
    return slot
  }

  readSlot(slot: number, s: Words, a: number): void {
    copyWord(this.slots.current, slot * LIMBS, s, a)
  }

  writeSlot(slot: number, s: Words, a: number): void {
    const { slots } = this
    this.undo.pushWord(slots.current, slot * LIMBS, slot, SLOT)
    copyWord(s, a, slots.current, slot * LIMBS)
    slots.mark(slot)
    const account = this.accounts[slots.owners[slot]]
    account.mayHaveStorage = true
    this.mark(account)
  }

  slotChange(slot: number, s: Words, a: number): number {
    const { current, original } = this.slots
    const at = slot * LIMBS
    let o = 0
    let c = 0
    let n = 0
    let nc = 0
    let co = 0
    let no = 0
    for (let i = 0; i < LIMBS; i++) {
      const before = original[at + i]
      const now = current[at + i]
      const next = s[a + i]
      o |= before
      c |= now
      n |= next
      nc |= next ^ now
      co |= now ^ before
      no |= next ^ before
    }
    return (
      (o === 0 ? ORIGINAL_ZERO : 0) |
      (c === 0 ? CURRENT_ZERO : 0) |
      (n === 0 ? NEW_ZERO : 0) |
      (nc === 0 ? NEW_IS_CURRENT : 0) |
      (co === 0 ? CURRENT_IS_ORIGINAL : 0) |
      (no === 0 ? NEW_IS_ORIGINAL : 0)
    )
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
      else this.revertAccount(this.accounts[id], kind)
    }
  }

  private revertAccount(account: JournalAccount, kind: number): void {
    const { undo } = this
    if (kind === BALANCE) account.balance = undo.popObject() as bigint
    else if (kind === NONCE) account.nonce = undo.popObject() as bigint
    else if (kind === CODE) {
      const before = undo.popObject() as { code: Code | undefined; codeHash: Uint8Array }
      account.code = before.code
      account.codeHash = before.codeHash
    } else if (kind === STORAGE) {
      const before = undo.popObject() as { storage: number; cleared: boolean; clearedSinceTouched: boolean }
      account.storage = before.storage
      account.cleared = before.cleared
      account.clearedSinceTouched = before.clearedSinceTouched
    } else {
      const before = undo.popNumber()
      if (kind === EXISTS) account.exists = false
      else if (kind === WARM) account.warm = before
      else if (kind === TOUCH) this.revertTouch(account, before)
      else if (kind === CREATED) account.created = before
      else if (kind === DESTRUCTED) account.destructed = before
    }
  }

  // It stays in `touchedNow`, where the epoch says that it does not count.
  private revertTouch(account: JournalAccount, before: number): void {
    const { word } = account
    const isRipemd = word[0] === RIPEMD_LIMB && (word[1] | word[2] | word[3] | word[4]) === 0
    if (!isRipemd) account.touched = before
  }

  /** Ends a transaction: accounts that destroyed themselves go, and so do touched empty ones with `deleteEmpty` (EIP-161).
   *  Warm and transient storage, logs and the refund are forgotten, and nothing can be reverted any more. */
  endTransaction(deleteEmpty: boolean): void {
    for (const account of this.touchedNow) {
      if (account.touched !== this.epoch) continue
      if (account.destructed === this.epoch || (deleteEmpty && account.exists && this.isEmpty(account))) {
        this.delete(account)
      }
    }
    this.touchedNow = []
    this.transient.clear()
    this.undo.clear()
    this.logs = []
    this.refund = 0
    this.epoch++
  }

  private delete(account: JournalAccount): void {
    account.exists = false
    account.nonce = 0n
    account.balance = 0n
    account.code = EMPTY_CODE
    account.codeHash = EMPTY_CODE_HASH
    this.mark(account)
    if (account.mayHaveStorage) this.clearStorage(account)
  }

  private clearStorage(account: JournalAccount): void {
    account.storage = this.nextStorage++
    account.cleared = true
    account.clearedSinceTouched = true
    account.mayHaveStorage = false
  }

  private mark(account: JournalAccount): void {
    if ((account.marks & CHANGED) === 0) this.changedAccounts.push(account)
    if ((account.marks & TOUCHED) === 0) this.touchedAccounts.push(account)
    account.marks |= CHANGED | TOUCHED
  }

  /** What differs from the backing state since the last call: to be stored below, after which the journal reads the same
   *  from there. Only between transactions. */
  takeChanges(): StateChanges {
    const changes: StateChanges = { accounts: [], storage: [], codes: [] }
    const slotsOf = this.slots.takeChanged()
    for (const account of this.changedAccounts) {
      account.marks &= ~CHANGED
      this.collectChanges(account, slotsOf.get(account.id) ?? [], changes)
      account.cleared = false
    }
    this.changedAccounts = []
    this.newCodes = new Set()
    if (this.accounts.length > MAX_ACCOUNTS || this.slots.keys.count > MAX_SLOTS || this.epoch > MAX_EPOCH)
      this.forget()
    return changes
  }

  private collectChanges(account: JournalAccount, slots: number[], changes: StateChanges): void {
    const { address, exists, nonce, balance, cleared } = account
    const before = this.backing.account(address)
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
      if (code !== undefined && this.newCodes.delete(code))
        changes.codes.push({ hash: code.hash, bytes: codeBytes(code) })
    }
    for (const id of slots) {
      if (this.slots.keys.spaceOf(id) !== account.storage) continue // of a storage that was emptied afterwards
      const slot = this.slots.keyBytes(id)
      const value = this.slots.valueBytes(id)
      const old = fresh ? EMPTY_BYTES : this.backing.storage(address, slot)
      if (!equalBytes(old, value)) changes.storage.push({ address, incarnation, slot, value })
    }
  }

  /** Accounts and slots touched since the last call of this function, for hashing the state: see `stateRoot`. */
  takeTouched(): TouchedAccount[] {
    const out: TouchedAccount[] = []
    const slotsOf = this.slots.takeTouched()
    for (const account of this.touchedAccounts) {
      account.marks &= ~TOUCHED
      const { address, exists, nonce, balance, codeHash, clearedSinceTouched: cleared } = account
      const slots: TouchedAccount['slots'] = []
      for (const id of slotsOf.get(account.id) ?? []) {
        if (this.slots.keys.spaceOf(id) !== account.storage) continue
        slots.push({ slot: this.slots.keyBytes(id), value: this.slots.valueBytes(id) })
      }
      out.push({ address, account: exists ? { nonce, balance, codeHash } : null, cleared, slots })
      account.clearedSinceTouched = false
    }
    this.touchedAccounts = []
    return out
  }

  /** Undoes everything since the journal was made or reset, with what was read kept for whoever comes next, unless there is
   *  more of it than that. Not for journals that `takeChanges` is asked of. */
  rewind(most: { accounts: number; slots: number }): void {
    if (this.accounts.length > most.accounts || this.slots.keys.count > most.slots || this.epoch > MAX_EPOCH) {
      this.forget()
      return
    }
    this.revert(0)
    this.touchedNow = []
    this.newCodes.clear()
    this.transient.clear()
    this.undo.clear()
    this.epoch++
  }

  /** Forgets everything that lies in memory. Only after `takeChanges`, or to give up all changes. */
  forget(): void {
    this.accountIds.clear()
    this.accounts = []
    this.nextStorage = 0
    this.slots.clear()
    this.transient.clear()
    this.undo.clear()
    this.newCodes = new Set()
    this.touchedNow = []
    this.changedAccounts = []
    this.touchedAccounts = []
    this.logs = []
    this.refund = 0
    this.epoch = 1
  }

  /** Forgets everything and goes on over another backing state. */
  reset(backing: StateBacking): void {
    this.forget()
    this.backing = backing
  }

  /** Sets an account with its code and storage, as a genesis or a test has them; outside of transactions. */
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

/** An account to be set as a whole. Slots and values are big-endian, of at most 32 bytes. */
export interface NewAccount {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  storage: { slot: Uint8Array; value: Uint8Array }[]
}

function isSame(a: BaseAccount, b: JournalAccount): boolean {
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash)
}
