import type { ChainSpec } from '../forks/rules.js'
import type { Refuse } from '../invalidBlock.js'
import type { Block, Header, Transaction } from '../types.js'

/** The state that a family's rules read and change during a block. */
export interface FamilyState {
  /** Returns the value of a slot. `address` has 20 bytes, `slot` 32. */
  slot(address: Uint8Array, slot: Uint8Array): bigint
  /** Sets the code of an account. */
  setCode(address: Uint8Array, code: Uint8Array): void
}

/** How a force-included transaction is executed: it pays nothing for its gas, and fails where another one would be
 *  refused. */
export interface ForcedInclusion {
  /** Wei that its sender gets before it, and keeps when it fails. */
  readonly mint: bigint
  /** Its gas does not count in the block. */
  readonly isUncounted: boolean
  /** Its receipt has the gas used, after refunds; otherwise its gas limit, or zero if the gas does not count. */
  readonly reportsGas: boolean
  /** Its receipt has the sender's nonce. */
  readonly reportsNonce: boolean
  /** The rule by which no block may contain it, and the values. */
  readonly broken?: { readonly rule: string; readonly detail: string }
}

/** A payment to an account of the chain. */
export interface Payment {
  readonly address: Uint8Array // 20
  readonly wei: bigint
}

/** A system call to a contract after the transactions of a block. */
export interface ClosingCall {
  /** For messages. */
  readonly purpose: string
  readonly address: Uint8Array // 20
  readonly input: Uint8Array
  /** Gas limit of the system transaction, with intrinsic gas. */
  readonly gasLimit: bigint
  /** Returns the amounts that the call's output adds to balances. Absent: it adds nothing. @throws DecodeError */
  payments?(output: Uint8Array): Payment[]
}

/** What a call returned: return or revert data; with `failure`, why it failed. */
export interface CallOutput {
  readonly output: Uint8Array
  readonly failure?: string
}

/** A call in the state at the end of the parent of a block, and in the block context of the parent, whose output the
 *  header of the block is checked against. It is free and changes nothing. */
export interface ParentCall {
  readonly to: Uint8Array // 20
  readonly input: Uint8Array
  /** Checks the header. @throws InvalidBlock */
  verify(outcome: CallOutput, refuse: Refuse): void
}

/** What a transaction pays beside its gas. */
export interface AddedFees {
  /** Wei due before it runs. */
  readonly upfront: bigint
  /** Returns what its sender gets back of `upfront`, in wei. */
  refund(gasUsed: bigint): bigint
  /** Returns the payments after it ran. */
  payments(gasUsed: bigint): Payment[]
}

/** The rules of a family for the transactions of one block. */
export interface FamilyBlockRules {
  /** Changes the state before everything else in the block. Absent: there is no such change. */
  begin?(state: FamilyState): void
  /** Returns how a force-included transaction is executed; undefined for any other. */
  forcedInclusion(transaction: Transaction): ForcedInclusion | undefined
  /** Returns what a transaction that is not force-included pays beside its gas. Call it for those of a block in order,
   *  each on the state before it. */
  feesOf(transaction: Transaction, state: FamilyState): AddedFees
}

/** How the blocks of a family are executed, where that differs from Ethereum. */
export interface FamilyExecution {
  /** Returns the call that names those who may seal a block, where its header does not. Absent: no call. */
  parentCall?(spec: ChainSpec, header: Header, parent: Header): ParentCall | undefined
  /** Returns the rules for the transactions of a block. Absent: those of Ethereum. */
  open?(spec: ChainSpec, header: Header): FamilyBlockRules
  /** True if `open` holds for simulated blocks too: their calls pay the added fees where they pay for gas. Default:
   *  false, they pay none. */
  readonly appliesToSimulations?: boolean
  /** Returns the account, 20 bytes, whose storage root is the withdrawals root of the header; undefined where the
   *  withdrawals root covers withdrawals. */
  withdrawalsAccount?(spec: ChainSpec, header: Header): Uint8Array | undefined
  /** Accounts, 20 bytes each, that the prestateTracer of its nodes has for every transaction and call. Absent: none. */
  readonly tracedAccounts?: readonly Uint8Array[]
  /** Returns the account, 20 bytes, that gets priority fees and that COINBASE returns. Absent: the header's. */
  beneficiary?(spec: ChainSpec, header: Header): Uint8Array
  /** Returns the account, 20 bytes, that gets priority fees instead of the beneficiary. */
  feeRecipient?(spec: ChainSpec, header: Header): Uint8Array | undefined
  /** Returns the system calls after the transactions of a block, in order, which then has neither rewards nor the
   *  balance changes of withdrawals. Absent: it has those of Ethereum. */
  closingCalls?(spec: ChainSpec, block: Pick<Block, 'header' | 'withdrawals'>): ClosingCall[]
  /** True if system calls create the account of their caller, which no transaction removes while it is empty. */
  readonly keepsSystemAccount?: boolean
  /** Returns the reward of a block, which is added after its transactions. */
  reward?(spec: ChainSpec, header: Header): Payment | undefined
}
