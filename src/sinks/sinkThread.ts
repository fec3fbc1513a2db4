import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { type ExportSource, openExportSource } from '../export/source.js'
import { CairnError } from '../lib/errors.js'
import { createLogger } from '../lib/logger.js'
import { holdLock } from '../store/fileLock.js'
import { NO_SINK_STATUS } from '../sync/sinkStatus.js'
import { BACKGROUND_NICENESS, yieldToMainThread } from '../workers/priority.js'
import { runWriter } from '../workers/runWriter.js'
import { CursorFile } from './cursor.js'
import { EventReader } from './eventReader.js'
import { type MessageLimits, WEBHOOK_LIMITS } from './messages.js'
import { Sink } from './sink.js'
import type { SinkData } from './sinkWorker.js'
import { createWebhook, type SinkTransport } from './webhook.js'

/* Entry point of the thread that delivers events. */

const { settings, logging } = workerData as SinkData
const { datadir, filter, from } = settings
const log = createLogger(logging)
/** Interval of checks of a database without blocks. */
const EMPTY_POLL_MS = 250
yieldToMainThread(BACKGROUND_NICENESS)
let release = () => {}

await runWriter(open, async () => release())

async function open(signal: AbortSignal) {
  const source = openExportSource(datadir)
  const lock = holdLock(join(datadir, 'sink.lock'))
  release = () => {
    source.close()
    lock?.close()
  }
  if (lock === undefined) throw new CairnError(`another process serves ${datadir} with --sink`)
  const { transport, limits } = await openTransport(signal)
  const reader = new EventReader(source, filter)
  reader.check()
  let sink: Sink | undefined
  const begin = () => {
    const chainId = source.chain.chainId()
    const cursors = new CursorFile(datadir, chainId)
    const version = () => source.watch.version()
    const parts = { reader, cursors, transport, chainId, limits, omitsEmpty: !filter.blocks, version, signal, log }
    sink = new Sink(parts, from)
    return sink
  }
  if (source.chain.holdsBlocks()) begin()
  return {
    run: async () => {
      await untilBlocks(source, signal)
      if (!signal.aborted) await (sink ?? begin()).run()
    },
    status: () => sink?.status() ?? NO_SINK_STATUS,
    close: async () => {
      sink?.close()
      await transport.close()
    },
  }
}

/** Resolves when the database has blocks, or the signal aborts. */
async function untilBlocks({ chain }: ExportSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !chain.holdsBlocks()) await sleep(EMPTY_POLL_MS)
}

/** @throws UsageError for invalid credentials of NATS */
async function openTransport(signal: AbortSignal): Promise<{ transport: SinkTransport; limits: MessageLimits }> {
  const { target } = settings
  if (target.kind === 'webhook') return { transport: createWebhook(target.url, target.secret), limits: WEBHOOK_LIMITS }
  const { createNatsSink, NATS_LIMITS } = await import('./natsSink.js')
  return { transport: createNatsSink(target, { log, signal }), limits: NATS_LIMITS }
}
