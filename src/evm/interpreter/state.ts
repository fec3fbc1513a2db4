import type { Log } from '../../chain/eth/types.js'
import type { Code } from './code.js'
import type { MemoryMeter } from './memoryMeter.js'
import type { Words } from './words/words.js'

/** The current account. Read its fields freely; change them only through `EvmState`, which logs the old values. */
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

/** The state that the interpreter runs on: changes in memory over stored state, revertible by `revert`. Slots have ids,
 *  so an instruction looks a slot up once. */
export interface EvmState {
  /** The account of the address in the low 20 bytes of the word at `a`. Always the same object. */
  accountOfWord(s: Words, a: number): Account
  /** The account of an address of 20 bytes. */
  account(address: Uint8Array): Account
  /** The account's code; for a delegating account, the delegation itself (EIP-7702). */
  code(account: Account): Code
  /** True if it has nonce 0, no balance and no code, or does not exist (EIP-161). */
  isEmpty(account: Account): boolean
  /** True if a contract cannot be created there: it has a nonce or code (EIP-684), or storage if `eip7610`. */
  isOccupied(account: Account, eip7610: boolean): boolean

  setBalance(account: Account, balance: bigint): void
  setNonce(account: Account, nonce: bigint): void
  setCode(account: Account, code: Code): void
  /** Creates the account if needed, and marks it for deletion at the end if it is then empty (EIP-161). For operations
   *  that touch an empty account without changing it. */
  touch(account: Account): void
  /** Creates the account, as created by this transaction. */
  create(account: Account): void
  wasCreated(account: Account): boolean
  /** Marks it for deletion at the end of the transaction. False if it was already marked. */
  destruct(account: Account): boolean

  /** Marks it as accessed by this transaction (EIP-2929). True on the first access. */
  warmAccount(account: Account): boolean
  /** Like `warmAccount`, for a slot. */
  warmSlot(slot: number): boolean

  /** The id of the account's slot that the word at `a` names. Valid until the account's storage is cleared. */
  slot(account: Account, s: Words, a: number): number
  /** Copies the slot's value to a word. */
  readSlot(slot: number, s: Words, a: number): void
  /** Sets the slot to the word. */
  writeSlot(slot: number, s: Words, a: number): void
  /** Returns how the word would change the slot, for its gas: bits such as `ORIGINAL_ZERO`. */
  slotChange(slot: number, s: Words, a: number): number

  /** Copies the transient value (EIP-1153) of the key at `key` to the word at `to`, which may be the same. */
  readTransient(account: Account, s: Words, key: number, to: number): void
  writeTransient(account: Account, s: Words, key: number, value: number): void

  addLog(log: Log): void
  /** Logs of the transaction so far. */
  readonly logs: Log[]
  /** Gas to be refunded (Yellow Paper, A_r); may be temporarily negative within a frame. */
  readonly refund: number
  addRefund(gas: number): void

  /** Records accesses, for the block access list (EIP-7928); undefined if not requested. */
  readonly recorder: AccessRecorder | undefined

  /** The memory meter that machine and state share. */
  readonly meter: MemoryMeter

  /** A position for `revert`, which also restores logs and refund. */
  snapshot(): number
  revert(snapshot: number): void
}

/** Records what a block or a call accesses. A failing frame does not undo records. */
export interface AccessRecorder {
  /** The account's data was read, or will be changed; with `isPaid` false the gas was not enough for it. */
  account(account: Account, isPaid?: boolean): void
  /** The account is about to become a contract. */
  created(account: Account): void
  /** The slot was read; with `isPaid` false the gas was not enough to access it. */
  slot(slot: number, isPaid?: boolean): void
  /** The slot is about to be written. */
  write(slot: number): void
}

/** Bits of the result of `slotChange`: the original value is zero; the current one is; the new one is; current equals
 *  new; original equals current; original equals new. */
export const ORIGINAL_ZERO = 1
export const CURRENT_ZERO = 2
export const NEW_ZERO = 4
export const NEW_IS_CURRENT = 8
export const CURRENT_IS_ORIGINAL = 16
export const NEW_IS_ORIGINAL = 32
