import type { Block, ConsensusReceipt } from '../../chain/eth/types.js'
import type { ReplicaPosition } from '../../store/replication/position.js'
import type { PackedChanges } from '../../store/rows/packedChanges.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'

/** A verified block with everything that a replica stores of it: values of the chain, no ids of the writer's database. */
export interface ReplicatedBlock {
  readonly block: Block
  readonly receipts: readonly ConsensusReceipt[]
  /** Of the chain up to and including the block. */
  readonly totalDifficulty: bigint
  /** Undefined when the chain keeps no state. `codes` has the code of every account whose code the block changed. */
  readonly changes?: StateChanges
  /** By transaction: the addresses (20 bytes) in which it appears. Undefined when the chain does not keep the address index. */
  readonly appearances?: readonly (readonly Uint8Array[])[]
  /** RLP (EIP-7928), where access lists are kept. */
  readonly blockAccessList?: Uint8Array
}

/** A block that came in a message, with the consensus bytes that its roots cover. */
export interface DecodedBlock extends Omit<ReplicatedBlock, 'changes'> {
  /** Undefined when the writer keeps no state. Its bytes are those of the message. */
  readonly changes?: PackedChanges
  /** EIP-2718 bytes of the transactions, in order: values of the transactions trie. */
  readonly encodedTransactions: readonly Uint8Array[]
  /** EIP-2718 bytes of the receipts, in order: values of the receipts trie. */
  readonly encodedReceipts: readonly Uint8Array[]
  /** Begins with the state changes, where there are any: for `decodeChanges`. */
  readonly encodedState: Uint8Array
}

/** A block as it travels: what identifies it, and its message. */
export interface EncodedBlock {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly parentHash: Uint8Array // 32
  /** Version byte, then raw deflate; see message.ts. */
  readonly payload: Uint8Array
}

/** One change of the chain. A replica applies each in one transaction. */
export type ReplicationUnit =
  | {
      readonly kind: 'blocks'
      /** A reorg, or a rewind by the operator: the blocks above it are removed first. */
      readonly ancestor?: BlockRef
      /** Ascending and linked. May be empty after `ancestor`. */
      readonly blocks: readonly EncodedBlock[]
      /** Undefined when the writer has recorded none: its head counts as final. */
      readonly finality?: Finality
    }
  /** A writer with a higher epoch begins at this head. */
  | { readonly kind: 'epoch'; readonly epoch: number; readonly head: BlockRef }
  | { readonly kind: 'finality'; readonly finality: Finality }

/** What a replica has: where a source goes on. */
export interface ReplicaPlace {
  readonly position?: ReplicaPosition
  /** Stored blocks, the newest first, ever farther apart. Empty for an empty chain. */
  readonly locator: readonly BlockRef[]
}

/** A unit and the position after it. */
export interface PositionedUnit {
  readonly unit: ReplicationUnit
  readonly position: ReplicaPosition
}

/** Where a replica gets the changes of the chain. */
export interface ReplicationSource {
  /** The units after what the replica has, in order, without end; ends when the signal is aborted.
   *  @throws ReplicationGap when units are missing, other errors when the source cannot be read */
  units(from: ReplicaPlace, signal: AbortSignal): AsyncIterable<PositionedUnit>
}
