import type { ReplicaSettings } from '../ingest/replication/apply/openReplica.js'
import type { ReplicationStatus } from '../ingest/replication/status.js'
import type { LogSettings } from '../lib/logger.js'
import type { KeptThreadReply } from './keptThread.js'

/** Where a replica gets blocks: from another Cairn. */
export interface ReplicaSourceSettings {
  readonly kind: 'http'
  readonly url: string
}

/** Start data of the thread. */
export interface ReplicaData {
  readonly settings: ReplicaSettings
  readonly source: ReplicaSourceSettings
  readonly logging: LogSettings
}

/** What the thread says of how it goes. */
export type ReplicaReply = KeptThreadReply | { readonly kind: 'status'; readonly status: ReplicationStatus }
