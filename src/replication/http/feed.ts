import type { BlockRef } from '../../sync/head/events.js'

/** Where a replica starts: its newest blocks, none for one without blocks, or the block that it requests next; and the
 *  newest entry of sparse state that it has, or `none` if it keeps no state. Absent: it keeps a complete state. */
export type StreamStart = ({ readonly locator: readonly BlockRef[] } | { readonly from: number }) & {
  readonly state?: number | 'none'
}

/** Why a stream cannot start or continue. */
export interface StreamStop {
  readonly problem: string
  /** True when what the replica needs is not available any more. */
  readonly isGap?: boolean
}

/** Reader of a stream. */
export interface StreamReader {
  /** Called with whole frames. Call `taken` when the client has received them, so that the next ones are made. */
  frames(bytes: Uint8Array, taken: () => void): void
  /** Called when the stream cannot start or continue: the reader closes it. */
  end(end: StreamStop): void
}

/** Provides frames of the chain to any number of readers. */
export interface ReplicationFeed {
  /** Opens a stream. Calls the reader only after this returns. @returns a function that closes the stream */
  open(start: StreamStart, reader: StreamReader): () => void
  close(): Promise<void>
}
