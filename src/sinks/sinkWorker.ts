import type { Logger, LogSettings } from '../lib/logger.js'
import { NO_SINK_STATUS, type SinkStatus } from '../sync/sinkStatus.js'
import { spawnWriter, type WriterReply } from '../workers/spawn.js'
import type { SinkSettings } from './settings.js'

/** Start data of the thread. */
export interface SinkData {
  readonly settings: SinkSettings
  readonly logging: LogSettings
}

/** Messages of the thread. */
type SinkReply = WriterReply | { readonly kind: 'status'; readonly status: SinkStatus }

/** A thread that delivers events. It only reads the database. */
export interface SinkWorker {
  /** Returns a status that is at most 250 ms old. */
  status(): SinkStatus
  /** Ends the thread, and the delivery that it has begun. */
  close(): Promise<void>
}

/** Starts the thread. Resolves when it has opened the database and the cursor. Replaces a thread that dies later.
 *  @throws UsageError for a filter with an unknown event; CairnError for an invalid cursor, or if another process has
 *  the sink of the data directory */
export async function startSinkWorker(data: SinkData, log: Logger): Promise<SinkWorker> {
  let status = NO_SINK_STATUS
  const thread = await spawnWriter<SinkReply>({
    url: new URL('./sinkThread.js', import.meta.url),
    data,
    does: 'delivers events to the sink',
    log,
    onReply: (reply) => {
      status = reply.status
    },
    onFailure: (problem) => {
      status = { ...status, state: 'retrying', problem }
    },
  })
  return { status: () => status, close: thread.close }
}
