import { formatData } from '../../lib/hex.js'
import { META_REPLICATION, type MetaTable } from '../meta.js'

/** Position of a replica in its stream, stored under the meta key `replication` in the transaction of each change
 *  set. */
export interface ReplicaPosition {
  /** Name and creation time of the stream; 'http' for a replica that reads from another server. */
  readonly stream: string
  /** Sequence of the last applied message; 0 over HTTP. */
  readonly sequence: number
  /** Epoch of the writer; 0 over HTTP. */
  readonly epoch: number
}

/** A position as stored: with the newest block at that time, as hex DATA. */
type StoredPosition = Partial<ReplicaPosition> & { readonly head?: string }

/** Returns the stored position; undefined when the chain has changed otherwise since: by a rewind, an import or while
 *  this node was the writer. `head` is the hash of the newest block, 32 bytes. */
export function readPosition(meta: MetaTable, head: Uint8Array | undefined): ReplicaPosition | undefined {
  const stored = meta.get<StoredPosition>(META_REPLICATION)
  if (stored?.stream === undefined || stored.head !== (head && formatData(head))) return undefined
  const { stream, sequence = 0, epoch = 0 } = stored
  return { stream, sequence, epoch }
}

/** Stores a position with the newest block, in the caller's transaction. */
export function writePosition(
  meta: MetaTable,
  position: ReplicaPosition | undefined,
  head: Uint8Array | undefined,
): void {
  meta.set(META_REPLICATION, { ...position, head: head && formatData(head) } satisfies StoredPosition)
}
