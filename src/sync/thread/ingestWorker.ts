import type { PendingBlock } from '../../chain/eth/types.js'
import type { Logger, LogSettings } from '../../lib/logger.js'
import { spawnWriter, type WriterReply } from '../../workers/spawn.js'
import type { FollowersStatus } from '../follow/openFollowers.js'
import type { FollowSettings } from '../follow/runFollower.js'
import type { FollowStatus } from '../follow/status.js'
import type { ReplicationStatus } from '../replicationStatus.js'

/** Start data of the thread. */
export interface IngestWorkerData {
  readonly settings: FollowSettings
  readonly logging: LogSettings
  /** Report the upstream's pending block. */
  readonly pending: boolean
}

/** Status reports of the thread. */
export type IngestWorkerReply =
  | WriterReply
  | { readonly kind: 'pending'; readonly block: PendingBlock | undefined }
  | { readonly kind: 'status'; readonly status: FollowersStatus }

/** A thread that follows upstreams. It is the only writer of the database. */
export interface IngestWorker {
  /** Returns a status at most 250 ms old; the last one when following has ended. */
  status(): FollowersStatus
  /** Returns the upstream's pending block, at most a second old; undefined where it has none or `pending` does not ask
   *  for it. */
  pending(): PendingBlock | undefined
  /** Its part in replication; absent without one. */
  replication?(): ReplicationStatus
  /** Ends the thread after the current transaction. */
  close(): Promise<void>
}

const STARTING: FollowStatus = {
  ...{ state: 'starting', block: null, upstreamBlock: null, syncStart: null, blocksPerSecond: 0, secondsLeft: null },
  ...{ reorgs: 0, removedBlocks: 0, problem: null, stopped: null, upstreams: [] },
}

/** Returns the status before following begins. */
export function describeIdle({ upstreams, l2 }: FollowSettings): FollowersStatus {
  return {
    l1: upstreams.length > 0 ? STARTING : null,
    l2: l2 ? { ...STARTING, upstreamHash: null, acceptedOnL1: null } : null,
  }
}

/** Starts the thread. Resolves when the database is open for writing, created if missing. A thread that dies later is
 *  replaced.
 *  @throws UsageError, CairnError when it cannot be opened, as `openFollower` says */
export async function startIngestWorker(
  settings: FollowSettings,
  { log, logging, pending, signal }: { log: Logger; logging: LogSettings; pending: boolean; signal?: AbortSignal },
): Promise<IngestWorker> {
  let status = describeIdle(settings)
  let pendingBlock: PendingBlock | undefined
  const fail = (problem: string) => {
    const failed = { state: 'failed', problem } as const
    status = { l1: status.l1 && { ...status.l1, ...failed }, l2: status.l2 && { ...status.l2, ...failed } }
  }
  const thread = await spawnWriter<IngestWorkerReply>({
    url: new URL('./ingestWorkerThread.js', import.meta.url),
    data: { settings, logging, pending } satisfies IngestWorkerData,
    does: 'follows the upstreams',
    log,
    signal,
    onReply: (reply) => {
      if (reply.kind === 'pending') pendingBlock = reply.block
      else status = reply.status
    },
    onFailure: fail,
  })
  return { status: () => status, pending: () => pendingBlock, close: thread.close }
}
