import { Worker } from 'node:worker_threads'
import type { PendingBlock } from '../chain/eth/types.js'
import type { FollowersStatus } from '../ingest/follow/openFollowers.js'
import type { FollowSettings } from '../ingest/follow/runFollower.js'
import type { FollowStatus } from '../ingest/follow/status.js'
import { CairnError, describeError, messageOf, UsageError } from '../lib/errors.js'
import type { Logger, LogSettings } from '../lib/logger.js'
import type { IngestWorkerData, IngestWorkerReply, IngestWorkerRequest } from './ingestWorkerProtocol.js'

/** A thread that follows upstreams, the only writer of the database. */
export interface IngestWorker {
  /** At most 250 ms old; the last one when following has ended. */
  status(): FollowersStatus
  /** The upstream's pending block, at most a second old; undefined where it has none or `pending` does not ask for it. */
  pending(): PendingBlock | undefined
  /** Ends the thread after the transaction under way. */
  close(): Promise<void>
}

// A block's objects die with it. With the default of 48 many outlive two collections first, which cost a tenth more time per
// block.
const YOUNG_GENERATION_MB = 192

const STARTING: FollowStatus = {
  ...{ state: 'starting', block: null, upstreamBlock: null, syncStart: null, blocksPerSecond: 0, secondsLeft: null },
  ...{ reorgs: 0, removedBlocks: 0, problem: null, upstreams: [] },
}

/** Starts the thread. Resolves when the database is open for writing, and made where there was none.
 *  @throws UsageError, CairnError when it cannot be opened, as `openFollower` says */
export async function startIngestWorker(
  settings: FollowSettings,
  { log, logging, pending }: { log: Logger; logging: LogSettings; pending: boolean },
): Promise<IngestWorker> {
  const data: IngestWorkerData = { settings, logging, pending }
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }
  const worker = new Worker(new URL('./ingestWorkerThread.js', import.meta.url), { workerData: data, resourceLimits })
  let status: FollowersStatus = {
    l1: settings.upstreams.length > 0 ? STARTING : null,
    l2: settings.l2 ? { ...STARTING, upstreamHash: null, acceptedOnL1: null } : null,
  }
  let pendingBlock: PendingBlock | undefined
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const opened = new Promise<void>((resolve, reject) => {
    worker.on('message', (reply: IngestWorkerReply) => {
      if (reply.kind === 'opened') resolve()
      else if (reply.kind === 'pending') pendingBlock = reply.block
      else if (reply.kind === 'status') status = reply.status
      else reject(reply.isUsage ? new UsageError(reply.message) : new CairnError(reply.message))
    })
    worker.on('error', (error) => {
      log.error({ error: describeError(error) }, 'the thread that follows the upstreams ended')
      const failed = { state: 'failed', problem: messageOf(error) } as const
      status = { l1: status.l1 && { ...status.l1, ...failed }, l2: status.l2 && { ...status.l2, ...failed } }
      reject(error)
    })
  })
  await opened
  return {
    status: () => status,
    pending: () => pendingBlock,
    close: async () => {
      worker.postMessage('stop' satisfies IngestWorkerRequest)
      await exited
    },
  }
}
