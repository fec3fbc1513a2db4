import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { openExportSource } from '../export/source.js'
import { CairnError } from '../lib/errors.js'
import { createLogger } from '../lib/logger.js'
import { holdLock } from '../store/fileLock.js'
import { BACKGROUND_NICENESS, yieldToMainThread } from '../workers/priority.js'
import { runWriter } from '../workers/runWriter.js'
import { CursorFile } from './cursor.js'
import { EventReader } from './eventReader.js'
import { WEBHOOK_LIMITS } from './messages.js'
import { createNatsSink, NATS_LIMITS } from './natsSink.js'
import { Sink } from './sink.js'
import type { SinkData } from './sinkWorker.js'
import { createWebhook } from './webhook.js'

/* Entry point of the thread that delivers events. */

const { settings, logging } = workerData as SinkData
const { datadir, target, filter, from } = settings
const log = createLogger(logging)
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
  const transport =
    target.kind === 'nats' ? createNatsSink(target, { log, signal }) : createWebhook(target.url, target.secret)
  const sink = new Sink(
    {
      reader: new EventReader(source, filter),
      cursors: new CursorFile(datadir, source.chain.chainId()),
      transport,
      chainId: source.chain.chainId(),
      limits: target.kind === 'nats' ? NATS_LIMITS : WEBHOOK_LIMITS,
      omitsEmpty: !filter.blocks,
      version: () => source.watch.version(),
      signal,
      log,
    },
    from,
  )
  const close = async () => {
    sink.close()
    await transport.close()
  }
  return { run: () => sink.run(), status: () => sink.status(), close }
}
