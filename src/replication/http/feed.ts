import type { BlockRef } from '../../sync/head/events.js'

/** Where a replica begins: its newest blocks, or the block that it asks for next. */
export type StreamStart = { readonly locator: readonly BlockRef[] } | { readonly from: number }

/** Who reads a stream. */
export interface StreamReader {
  /** Frames, whole ones. `taken` is called when the client has them, for the next ones to be made. */
  frames(bytes: Uint8Array, taken: () => void): void
  /** The stream cannot begin or go on: the reader closes it. */
  end(problem: string): void
}

/** Gives frames of the chain to any number of readers. */
export interface ReplicationFeed {
  /** Opens a stream. The reader is called later, not before this returns. @returns what closes it */
  open(start: StreamStart, reader: StreamReader): () => void
  close(): Promise<void>
}
