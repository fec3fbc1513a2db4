import type { Log } from '../../chain/eth/types.js'
import type { Code } from './code.js'
import type { MemoryMeter } from './memoryMeter.js'
import type { Words } from './words/words.js'

/** An account as it is now. Fields are read freely; they are changed only through `EvmState`, which notes how they were. */
export interface Account {
  readonly id: number
  readonly address: Uint8Array // 20
  /** The address as a word. */
  readonly word: Words
  exists: boolean
  nonce: bigint
  balance: bigint
  codeHash: Uint8Array // 32
}

/** The state that the interpreter runs on: changes in memory over stored state, all of them undone by `revert`. Slots are
 *  named by ids, so that a slot is looked up once for all that an instruction does with it. */
export interface EvmState {
  /** The account of the address in the low 20 bytes of the word at `a`. The same object each time. */
  accountOfWord(s: Words, a: number): Account
  /** The account of an address of 20 bytes. */
  account(address: Uint8Array): Account
  /** The account's code; for one that delegates, the delegation itself (EIP-7702). */
  code(account: Account): Code
  /** True when it has nonce 0, no balance and no code, or does not exist (EIP-161). */
  isEmpty(account: Account): boolean
  /** True when a contract cannot be created there: it has a nonce, code, or storage (EIP-684, EIP-7610). */
  isOccupied(account: Account): boolean

  setBalance(account: Account, balance: bigint): void
  setNonce(account: Account, nonce: bigint): void
  setCode(account: Account, code: Code): void
  /** Makes it exist, and marks it for deletion at the end if it is empty then (EIP-161). */
  touch(account: Account): void
  /** Makes it exist, as created by this transaction. */
  create(account: Account): void
  wasCreated(account: Account): boolean
  /** Marks it to be deleted at the end of the transaction, and empties its balance. False when it was marked before. */
  destruct(account: Account): boolean

  /** Marks it as accessed by this transaction (EIP-2929); true when it was not before. */
  warmAccount(account: Account): boolean
  /** The same for a slot. */
  warmSlot(slot: number): boolean

  /** The id of the account's slot that the word at `a` names. Valid until the account's storage is emptied. */
  slot(account: Account, s: Words, a: number): number
  /** Copies the slot's value to a word. */
  readSlot(slot: number, s: Words, a: number): void
  /** Sets the slot to the word. */
  writeSlot(slot: number, s: Words, a: number): void
  /** How the word would change the slot, for its price: see `SlotChange`. */
  slotChange(slot: number, s: Words, a: number): number

  /** Copies the transient value (EIP-1153) of the key at `key` to the word at `to`, which may be the same. */
  readTransient(account: Account, s: Words, key: number, to: number): void
  writeTransient(account: Account, s: Words, key: number, value: number): void

  addLog(log: Log): void
  /** Logs of the transaction so far. */
  readonly logs: Log[]
  /** Gas to be refunded (Yellow Paper, A_r), which may be below zero for a while within a frame. */
  readonly refund: number
  addRefund(gas: number): void

  /** What a message takes of memory, of which machine and state ask together. */
  readonly meter: MemoryMeter

  /** A position that `revert` goes back to. Logs and the refund go back with it. */
  snapshot(): number
  revert(snapshot: number): void
}

/** Bits of what `slotChange` says: the value before the transaction is zero; the present one is; the new one is; present
 *  and new are the same; original and present are; original and new are. */
export const ORIGINAL_ZERO = 1
export const CURRENT_ZERO = 2
export const NEW_ZERO = 4
export const NEW_IS_CURRENT = 8
export const CURRENT_IS_ORIGINAL = 16
export const NEW_IS_ORIGINAL = 32
