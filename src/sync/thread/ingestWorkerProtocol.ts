import type { PendingBlock } from '../../chain/eth/types.js'
import type { LogSettings } from '../../lib/logger.js'
import type { KeptThreadReply } from '../../workers/keptThread.js'
import type { FollowersStatus } from '../follow/openFollowers.js'
import type { FollowSettings } from '../follow/runFollower.js'

/** Start data of the thread. */
export interface IngestWorkerData {
  readonly settings: FollowSettings
  readonly logging: LogSettings
  /** Report the upstream's pending block. */
  readonly pending: boolean
}

/** The message to the thread: it ends after the current transaction. */
export type IngestWorkerRequest = 'stop'

/** Status reports of the thread. */
export type IngestWorkerReply =
  | KeptThreadReply
  | { readonly kind: 'pending'; readonly block: PendingBlock | undefined }
  | { readonly kind: 'status'; readonly status: FollowersStatus }
