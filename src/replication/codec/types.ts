import type { Block, ConsensusReceipt } from '../../chain/eth/types.js'
import type { ReplicaPosition } from '../../store/replication/position.js'
import type { StateEntry } from '../../store/replication/stateLog.js'
import type { PackedChanges } from '../../store/rows/packedChanges.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'

/** A verified block with everything that a replica stores of it: values of the chain, no database ids of the writer. */
export interface ReplicatedBlock {
  readonly block: Block
  readonly receipts: readonly ConsensusReceipt[]
  /** Total difficulty of the chain up to and including the block. */
  readonly totalDifficulty: bigint
  /** Undefined when the chain keeps no state. `codes` has the code of every account whose code the block changed. */
  readonly changes?: StateChanges
  /** The addresses (20 bytes) that appear in each transaction. Undefined when the chain does not keep the address
   *  index. */
  readonly appearances?: readonly (readonly Uint8Array[])[]
  /** RLP (EIP-7928), if access lists are kept. */
  readonly blockAccessList?: Uint8Array
  /** With sparse state: what was added to it since the block before, the last one for this block. */
  readonly entries?: readonly StateMessage[]
}

/** An addition to sparse state, with the code of the accounts that it names. */
export interface StateMessage extends StateEntry {
  readonly codes: readonly Uint8Array[]
}

/** Ids of entries: the last one that a replica must have before a change set, and the last one after it. */
export interface StateRange {
  readonly before: number
  readonly after: number
}

/** A block decoded from a message, with the consensus bytes that its roots cover. */
export interface DecodedBlock extends Omit<ReplicatedBlock, 'changes'> {
  /** Undefined when the writer keeps no state. Its bytes are those of the message. */
  readonly changes?: PackedChanges
  /** EIP-2718 bytes of the transactions, in order: values of the transactions trie. */
  readonly encodedTransactions: readonly Uint8Array[]
  /** EIP-2718 bytes of the receipts, in order: values of the receipts trie. */
  readonly encodedReceipts: readonly Uint8Array[]
  /** Begins with the state changes, if any: for `decodeChanges`. */
  readonly encodedState: Uint8Array
}

/** A block in transit: what identifies it, and its message. */
export interface EncodedBlock {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly parentHash: Uint8Array // 32
  /** Version byte, then raw deflate; see message.ts. */
  readonly payload: Uint8Array
}

/** One change set of the chain. A replica applies each in one transaction. */
export type ReplicationUnit =
  | {
      readonly kind: 'blocks'
      /** Set for a reorg, or a rewind by the operator: the blocks above it are removed first. */
      readonly ancestor?: BlockRef
      /** Ascending and linked. May be empty after `ancestor`. */
      readonly blocks: readonly EncodedBlock[]
      /** Undefined when the writer has recorded none: its head counts as final. */
      readonly finality?: Finality
      /** With sparse state. */
      readonly state?: StateRange
    }
  /** An addition to sparse state at the newest block. `payload`: see stateMessage.ts. */
  | { readonly kind: 'state'; readonly head: BlockRef; readonly payload: Uint8Array; readonly state: StateRange }
  /** A writer with a higher epoch starts at this head. */
  | { readonly kind: 'epoch'; readonly epoch: number; readonly head: BlockRef; readonly state?: StateRange }
  | { readonly kind: 'finality'; readonly finality: Finality; readonly state?: StateRange }

/** What a replica has: where a source resumes. */
export interface ReplicaPlace {
  readonly position?: ReplicaPosition
  /** Stored blocks, newest first, with growing gaps. Empty for an empty chain. */
  readonly locator: readonly BlockRef[]
  /** With sparse state: the newest entry that it has. */
  readonly state?: number
}

/** A change set and the position after it. */
export interface PositionedUnit {
  readonly unit: ReplicationUnit
  readonly position: ReplicaPosition
}

/** Provides the changes of the chain to a replica. */
export interface ReplicationSource {
  /** Yields the change sets after what the replica has, in order, until the signal aborts.
   *  @throws ReplicationGap when change sets are missing, other errors when the source cannot be read */
  units(from: ReplicaPlace, signal: AbortSignal): AsyncIterable<PositionedUnit>
}
