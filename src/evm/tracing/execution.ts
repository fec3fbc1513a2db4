import type { Rules } from '../../chain/eth/forks/rules.js'
import type { Header, Transaction } from '../../chain/eth/types.js'
import type { Hooks } from '../interpreter/hooks.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { Machine } from '../interpreter/machine.js'
import type { AppliedTransaction } from '../transition/appliedTransaction.js'

/** A transaction or call that is about to run on the state before it. */
export interface Execution {
  readonly machine: Machine
  readonly journal: Journal
  readonly header: Header
  readonly rules: Rules
  readonly chainId: bigint
  readonly transaction: Executed
  /** See `FamilyExecution.tracedAccounts`; undefined where the rules are those of Ethereum. */
  readonly tracedAccounts?: readonly Uint8Array[]
  /** Logs of the block before it. */
  readonly logsBefore: number
  /** Runs it with the hooks and keeps its changes. Call it once. @throws DeadlineExceeded, CallMemoryExceeded */
  run(hooks?: Hooks): Applied
  /** Runs it and reverts its changes. */
  tryOut(): Applied
}

/** The outcome of an execution, as far as a trace needs it. */
export type Applied = Pick<AppliedTransaction, 'gasUsed' | 'failure' | 'lacksCode' | 'output'>

/** The fields of a transaction that a trace shows. */
export type Executed = Pick<Transaction, 'from' | 'to' | 'value' | 'input' | 'gasLimit' | 'authorizationList'>
