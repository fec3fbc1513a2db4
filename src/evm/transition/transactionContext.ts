import type { Rules } from '../../chain/eth/forks.js'
import type { Header, Transaction } from '../../chain/eth/types.js'
import type { Environment } from '../interpreter/environment.js'
import type { Journal } from '../interpreter/journal/journal.js'
import type { Machine } from '../interpreter/machine.js'

/** Context of transactions: a block, and a machine with the block's rules and the journal as state. */
export interface TransactionContext {
  machine: Machine
  journal: Journal
  rules: Rules
  header: Header
  chainId: bigint
  environment: Environment // of the block
}

/** The part of a transaction that runs after its gas has been bought. */
export type TransactionMessage = Pick<Transaction, 'from' | 'to' | 'value' | 'input' | 'authorizationList'>

/** The gas of a message. */
export interface MessageGas {
  gasLimit: bigint
  /** At most the limit. */
  intrinsic: bigint
  /** All of it is for execution: for calls, which transactions' limits do not bind (EIP-7825). Default false. */
  isUncapped?: boolean
}
