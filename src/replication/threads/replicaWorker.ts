import type { Logger } from '../../lib/logger.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import { keepThread } from '../../workers/keptThread.js'
import type { ReplicaData, ReplicaReply } from './replicaProtocol.js'

/** A thread that applies what a writer publishes. It is the only writer of the database. */
export interface ReplicaWorker {
  /** Returns a status that is at most 250 ms old. */
  status(): ReplicationStatus
  /** Resolves when the thread has ended for good: true when it applied everything up to `until`. */
  readonly ended: Promise<boolean>
  /** Ends the thread after the current transaction. */
  close(): Promise<void>
}

/** As for the thread that follows upstreams. */
export const YOUNG_GENERATION_MB = 192

/** Starts the thread. Resolves when the database is open for writing, creating it if missing. Replaces a thread that
 *  dies later. @throws UsageError, CairnError when the database cannot be opened, as for `openReplica` */
export async function startReplicaWorker(
  workerData: ReplicaData,
  { log, signal }: { log: Logger; signal?: AbortSignal },
): Promise<ReplicaWorker> {
  const role = workerData.settings.role ?? 'replica'
  const figures = { epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0 }
  let status: ReplicationStatus = { role, ...figures, state: 'catching up', problem: null }
  let isCaughtUp = false
  const thread = await keepThread<never, ReplicaReply>({
    url: new URL('./replicaThread.js', import.meta.url),
    options: { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } },
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
