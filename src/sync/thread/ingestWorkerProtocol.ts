import type { PendingBlock } from '../../chain/eth/types.js'
import type { LogSettings } from '../../lib/logger.js'
import type { KeptThreadReply } from '../../workers/keptThread.js'
import type { FollowersStatus } from '../follow/openFollowers.js'
import type { FollowSettings } from '../follow/runFollower.js'

/** Start data of the thread. */
export interface IngestWorkerData {
  readonly settings: FollowSettings
  readonly logging: LogSettings
  /** Tell of the upstream's pending block. */
  readonly pending: boolean
}

/** The message to the thread: it ends after the transaction under way. */
export type IngestWorkerRequest = 'stop'

/** What the thread says of how it goes. */
export type IngestWorkerReply =
  | KeptThreadReply
  | { readonly kind: 'pending'; readonly block: PendingBlock | undefined }
  | { readonly kind: 'status'; readonly status: FollowersStatus }
