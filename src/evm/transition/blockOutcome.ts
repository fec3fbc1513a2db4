import type { Receipt } from '../../chain/eth/types.js'

/** What execution says of a block, to be compared with its header. */
export interface BlockOutcome {
  receipts: Receipt[]
  gasUsed: bigint
  /** 32 bytes; undefined when it was not to be hashed. */
  stateRoot?: Uint8Array
  requestsHash?: Uint8Array // 32, from Prague on
}

/** The roots that execution asks for. */
export interface StateRootHasher {
  /** The root of the state as it is now: 32 bytes. */
  now(): Uint8Array
  /** The same at the end of a block, where it may not be wanted. */
  atEnd(): Uint8Array | undefined
}
