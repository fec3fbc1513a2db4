import type { BlockAccessList } from '../../chain/eth/blockAccessList.js'
import type { Receipt } from '../../chain/eth/types.js'
import type { BlockGas } from './checkTransaction.js'

/** Results of execution to compare with the header. */
export interface BlockOutcome {
  receipts: Receipt[]
  /** The header's gas used: of state or of execution, whichever is more (EIP-8037). */
  gasUsed: bigint
  /** What each transaction counts against the block's limit; not from the reference. */
  transactionGas?: BlockGas[]
  /** 32 bytes; undefined if it was not to be computed. */
  stateRoot?: Uint8Array
  requestsHash?: Uint8Array // 32, from Prague on
  blockAccessList?: BlockAccessList // from Amsterdam on
  /** By transaction: the addresses (20 bytes) that its calls called, created or sent the balance of a SELFDESTRUCT, failed calls
   *  included; distinct. Undefined unless they were asked for; not from the reference. */
  callees?: Uint8Array[][]
}

/** State roots needed during execution. */
export interface StateRootHasher {
  /** The root of the current state: 32 bytes. */
  now(): Uint8Array
  /** The same at the end of a block; undefined if it is not wanted. */
  atEnd(): Uint8Array | undefined
}
