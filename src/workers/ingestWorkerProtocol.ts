import type { PendingBlock } from '../chain/eth/types.js'
import type { FollowersStatus } from '../ingest/follow/openFollowers.js'
import type { FollowSettings } from '../ingest/follow/runFollower.js'
import type { LogSettings } from '../lib/logger.js'

/** Start data of the thread. */
export interface IngestWorkerData {
  readonly settings: FollowSettings
  readonly logging: LogSettings
  /** Tell of the upstream's pending block. */
  readonly pending: boolean
}

/** The message to the thread: it ends after the transaction under way. */
export type IngestWorkerRequest = 'stop'

/** What the thread says: once whether the database could be opened, then how it goes. */
export type IngestWorkerReply =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly message: string; readonly isUsage: boolean }
  | { readonly kind: 'pending'; readonly block: PendingBlock | undefined }
  | { readonly kind: 'status'; readonly status: FollowersStatus }
