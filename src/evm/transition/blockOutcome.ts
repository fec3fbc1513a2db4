import type { BlockAccessList } from '../../chain/eth/blockAccessList.js'
import type { CallOutput } from '../../chain/eth/families/family.js'
import type { Receipt } from '../../chain/eth/types.js'
import type { CallTrace } from '../../store/rows/callTraces.js'
import type { BlockGas } from './checkTransaction.js'

/** Results of execution to compare with the header. */
export interface BlockOutcome {
  receipts: Receipt[]
  /** The header's gas used: the larger of state gas and execution gas (EIP-8037). */
  gasUsed: bigint
  /** Gas of each transaction that counts against the block's limit; undefined from the reference interpreter. */
  transactionGas?: BlockGas[]
  /** 32 bytes; undefined if not requested. */
  stateRoot?: Uint8Array
  requestsHash?: Uint8Array // 32, from Prague on
  /** The storage root that the header has as its withdrawals root, 32 bytes; undefined where it has none, or the state
   *  root is not requested. */
  withdrawalsRoot?: Uint8Array
  blockAccessList?: BlockAccessList // from Amsterdam on
  /** Of the call of `FamilyExecution.parentCall`, if it was made. */
  parentCall?: CallOutput
  /** By transaction: the addresses (20 bytes) that its calls called, created or sent the balance of a SELFDESTRUCT,
   *  failed calls included; distinct. Undefined unless requested, and from the reference interpreter. */
  callees?: Uint8Array[][]
  /** By transaction: its calls, in the order in which they began. Undefined unless requested, and from the reference
   *  interpreter. */
  traces?: CallTrace[][]
}

/** State roots needed during execution. */
export interface StateRootHasher {
  /** The root of the current state: 32 bytes. */
  now(): Uint8Array
  /** The root at the end of a block; undefined if not requested. */
  atEnd(): Uint8Array | undefined
  /** The storage root of an account after `atEnd` returned a root: 32 bytes. Absent if `atEnd` returns none. */
  storageRoot?(address: Uint8Array): Uint8Array
}
