import type { ChainSpec } from '../forks/rules.js'

/** A built-in network whose genesis state Cairn does not have. */
export interface NetworkWithoutState {
  readonly spec: ChainSpec
  /** Hash of block 0, 32 bytes. */
  readonly genesisHash: Uint8Array
}
