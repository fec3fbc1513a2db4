import type { Logger, LogSettings } from '../../lib/logger.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import { spawnWriter, type WriterReply } from '../../workers/spawn.js'
import type { ReplicaSettings } from '../apply/replicaChain.js'
import type { ReplicaSourceSettings } from './replicaInput.js'

/** Start data of the thread. */
export interface ReplicaData {
  readonly settings: ReplicaSettings
  readonly source: ReplicaSourceSettings
  readonly logging: LogSettings
}

/** Messages of the thread. `caught up`: sent before `over`, with `until`. */
export type ReplicaReply =
  | WriterReply
  | { readonly kind: 'status'; readonly status: ReplicationStatus }
  | { readonly kind: 'caught up' }

/** A thread that applies what a writer publishes. It is the only writer of the database. */
export interface ReplicaWorker {
  /** Returns a status that is at most 250 ms old. */
  status(): ReplicationStatus
  /** Resolves when the thread has ended for good: true when it applied everything up to `until`. */
  readonly ended: Promise<boolean>
  /** Ends the thread after the current transaction. */
  close(): Promise<void>
}

/** Starts the thread. Resolves when the database is open for writing, creating it if missing. Replaces a thread that
 *  dies later. @throws UsageError, CairnError when the database cannot be opened, as for `openReplica` */
export async function startReplicaWorker(
  data: ReplicaData,
  { log, signal }: { log: Logger; signal?: AbortSignal },
): Promise<ReplicaWorker> {
  const role = data.settings.role ?? 'replica'
  const figures = { epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0 }
  let status: ReplicationStatus = { role, ...figures, state: 'catching up', problem: null }
  let isCaughtUp = false
  const thread = await spawnWriter<ReplicaReply>({
    url: new URL('./replicaThread.js', import.meta.url),
    data,
    does: 'applies blocks of the writer',
    log,
    signal,
    onReply: (reply) => {
      if (reply.kind === 'status') status = reply.status
      else isCaughtUp = true
    },
    onFailure: (problem) => {
      status = { ...status, state: 'failed', problem }
    },
  })
  return { status: () => status, ended: thread.ended.then(() => isCaughtUp), close: thread.close }
}
