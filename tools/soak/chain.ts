import type { Log } from '../../src/chain/eth/types.js'
import type { SeededRandom } from '../../test/support/random.js'

/** A block of the soak's chain, with its logs in order. */
export interface SoakBlock {
  readonly hash: Uint8Array // 32
  readonly logs: readonly Log[]
}

/** The chain that is followed: it grows and reorganizes at random, in a database of its own. */
export interface SoakChain {
  /** By number; block 0 is the genesis. */
  readonly blocks: readonly SoakBlock[]
  /** In geth's format. */
  readonly genesis: object
  /** Between two steps, at least and at most. */
  readonly stepMs: readonly [number, number]
  /** One of this many steps is a reorg. */
  readonly oneReorgIn: number
  /** Adds a block. */
  grow(): Promise<void>
  /** Replaces blocks above the finalized one by a branch that is longer. @returns how many were removed */
  reorganize(): Promise<number>
  /** A request that clients of this chain send. */
  randomRequest(random: SeededRandom): SoakRequest
  /** A filter of logs, which a subscriber asks for. */
  randomFilter(random: SeededRandom): SoakFilter
  close(): void
}

/** A request, and what it counts as in the table. */
export interface SoakRequest {
  readonly kind: 'read' | 'logs' | 'call' | 'other'
  readonly method: string
  readonly params: readonly unknown[]
}

/** Addresses of 20 bytes and topics of 32; null is any topic. */
export interface SoakFilter {
  readonly addresses: Uint8Array[]
  readonly topics: (Uint8Array[] | null)[]
}
