import type { LogSettings } from '../../lib/logger.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import type { KeptThreadReply } from '../../workers/keptThread.js'
import type { ReplicaSettings } from '../apply/replicaChain.js'
import type { NatsSettings } from '../nats/connection.js'

/** The source of a replica's blocks: another Cairn, or a stream. */
export type ReplicaSourceSettings =
  | { readonly kind: 'http'; readonly url: string }
  /** `repairUrl`: another Cairn that provides what the stream does not have any more. `until`: up to this sequence. */
  | { readonly kind: 'nats'; readonly nats: NatsSettings; readonly repairUrl?: string; readonly until?: number }

/** Start data of the thread. */
export interface ReplicaData {
  readonly settings: ReplicaSettings
  readonly source: ReplicaSourceSettings
  readonly logging: LogSettings
}

/** Messages of the thread. `caught up`: sent before `over`, with `until`. */
export type ReplicaReply =
  | KeptThreadReply
  | { readonly kind: 'status'; readonly status: ReplicationStatus }
  | { readonly kind: 'caught up' }
