import type { Log } from '../../chain/eth/types.js'
import type { Outcome } from '../interpreter/run.js'
import type { BlockGas } from './checkTransaction.js'

/** Outcome of a transaction, as far as its receipt needs it. */
export interface AppliedTransaction {
  status: Outcome['status']
  succeeded: boolean
  /** Why it failed, in geth's words. */
  failure?: string
  /** True for a creation before Homestead that succeeded without its code. */
  lacksCode?: boolean
  output: Uint8Array
  /** Gas that the sender pays for. */
  gasUsed: bigint
  /** Gas that counts against the block's limit; before Amsterdam equal to `gasUsed` (EIP-7778, EIP-8037). */
  blockGas: BlockGas
  /** Gas refunded at the end; not part of `gasUsed`. */
  gasRefunded: bigint
  /** Gas used before the refund. */
  peakGas: bigint
  logs: Log[]
  contractAddress?: Uint8Array // 20; set for every creation, failed ones too
  effectiveGasPrice: bigint // wei
  /** The sender's nonce before it, if its receipt has that. */
  reportedNonce?: bigint
}
