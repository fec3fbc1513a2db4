import type { Receipt } from '../../chain/eth/types.js'

/** Results of execution to compare with the header. */
export interface BlockOutcome {
  receipts: Receipt[]
  gasUsed: bigint
  /** 32 bytes; undefined if it was not to be computed. */
  stateRoot?: Uint8Array
  requestsHash?: Uint8Array // 32, from Prague on
}

/** State roots needed during execution. */
export interface StateRootHasher {
  /** The root of the current state: 32 bytes. */
  now(): Uint8Array
  /** The same at the end of a block; undefined if it is not wanted. */
  atEnd(): Uint8Array | undefined
}
