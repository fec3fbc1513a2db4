import type { LogSettings } from '../../lib/logger.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import type { KeptThreadReply } from '../../workers/keptThread.js'
import type { ReplicaSettings } from '../apply/replicaChain.js'
import type { NatsSettings } from '../nats/connection.js'

/** Where a replica gets blocks: from another Cairn, or from a stream. */
export type ReplicaSourceSettings =
  | { readonly kind: 'http'; readonly url: string }
  /** `repairUrl`: of another Cairn that gives what the stream does not hold any more. `until`: up to this sequence. */
  | { readonly kind: 'nats'; readonly nats: NatsSettings; readonly repairUrl?: string; readonly until?: number }

/** Start data of the thread. */
export interface ReplicaData {
  readonly settings: ReplicaSettings
  readonly source: ReplicaSourceSettings
  readonly logging: LogSettings
}

/** What the thread says of how it goes. `caught up`: before it is over, with `until`. */
export type ReplicaReply =
  | KeptThreadReply
  | { readonly kind: 'status'; readonly status: ReplicationStatus }
  | { readonly kind: 'caught up' }
