import { formatData } from '../../lib/hex.js'
import { META_REPLICATION, type MetaTable } from '../meta.js'

/** How far a replica is in what it reads. Stored under the meta key `replication` in the transaction of each unit. */
export interface ReplicaPosition {
  /** Name and creation time of the stream; 'http' for a replica that reads from another server. */
  readonly stream: string
  /** The last one applied; 0 over HTTP. */
  readonly sequence: number
  /** Of the writer; 0 over HTTP. */
  readonly epoch: number
}

/** A position as it is stored: with the newest block at that time, as hex DATA. */
type StoredPosition = Partial<ReplicaPosition> & { readonly head?: string }

/** The stored position; undefined when the chain was changed otherwise since: by a rewind, an import or a time as the writer. `head` is
 *  the hash of the newest block, 32 bytes. */
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
