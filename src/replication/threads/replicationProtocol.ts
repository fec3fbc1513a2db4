import type { StreamStart } from '../http/feed.js'

/** Start data of the thread that makes the frames of replicas. */
export interface ReplicationThreadData {
  readonly datadir: string
}

/** What the thread is asked. `taken`: the client has so many bytes more. */
export type ReplicationRequest =
  | { readonly kind: 'open'; readonly id: number; readonly start: StreamStart }
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'close'; readonly id: number }
  | { readonly kind: 'stop' }

/** What it says. */
export type ReplicationReply =
  | { readonly kind: 'frames'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly id: number; readonly problem: string }
