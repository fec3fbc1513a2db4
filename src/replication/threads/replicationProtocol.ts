import type { StreamStart } from '../http/feed.js'

/** Start data of the thread that makes the frames of replicas. */
export interface ReplicationThreadData {
  readonly datadir: string
}

/** Requests to the thread. `taken`: the client has received this many more bytes. */
export type ReplicationRequest =
  | { readonly kind: 'open'; readonly id: number; readonly start: StreamStart }
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'close'; readonly id: number }
  | { readonly kind: 'stop' }

/** Messages of the thread. */
export type ReplicationReply =
  | { readonly kind: 'frames'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly id: number; readonly problem: string }
