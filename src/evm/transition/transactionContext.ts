import type { Rules } from '../../chain/eth/forks/rules.js'
import type { Header, Transaction } from '../../chain/eth/types.js'
import type { Environment } from '../interpreter/environment.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { Machine } from '../interpreter/machine.js'
import type { FamilyBlock } from './familyBlock.js'

/** Context of transactions: a block, and a machine with the block's rules and the journal as state. */
export interface TransactionContext {
  machine: Machine
  journal: Journal
  rules: Rules
  header: Header
  chainId: bigint
  environment: Environment // of the block
  /** Absent where the rules are those of Ethereum, and for calls, which pay no fees of a family. */
  family?: FamilyBlock
}

/** The part of a transaction that runs after its gas has been bought. */
export type TransactionMessage = Pick<Transaction, 'from' | 'to' | 'value' | 'input' | 'authorizationList'>

/** The gas of a message. */
export interface MessageGas {
  gasLimit: bigint
  /** Intrinsic gas, at most the limit. */
  intrinsic: bigint
  /** Uses all of it for execution, because the transaction limit (EIP-7825) does not apply to calls. Default false. */
  isUncapped?: boolean
}
