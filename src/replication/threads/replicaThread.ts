import { parentPort, workerData } from 'node:worker_threads'
import { messageOf, UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { createCheckpointer } from '../../workers/checkpointer.js'
import { openReplica } from '../apply/openReplica.js'
import { createBlockVerifier } from './blockVerifier.js'
import { openReplicaInput, type ReplicaInput } from './replicaInput.js'
import type { ReplicaData, ReplicaReply } from './replicaProtocol.js'
import { openTrieHasher } from './trieHasher.js'

/* Entry point of the thread that writes the chain of a replica. It exits by itself and is never terminated. */

const STATUS_MS = 250

const port = parentPort!
const { settings, source, logging } = workerData as ReplicaData
const post = (reply: ReplicaReply) => port.postMessage(reply)
const stop = new AbortController()
port.once('message', () => stop.abort(new Error('the server stops')))
const log = createLogger(logging)
const checkpoints = createCheckpointer(settings.datadir)
/** An attempt to catch up ends with its first failure. */
const untilEnd = source.kind === 'nats' && source.until !== undefined
let input: ReplicaInput | undefined
try {
  input = await openReplicaInput(source, { log, signal: stop.signal })
  const { openSource, findPublished, sourceHead, health } = input
  const threads = { openVerifier: createBlockVerifier, openHasher: openTrieHasher }
  const parts = { log, signal: stop.signal, checkpoints, openSource, findPublished, sourceHead, ...threads }
  const replica = await openReplica({ ...settings, untilEnd }, { ...parts, recovers: () => !untilEnd })
  post({ kind: 'opened' })
  const reportStatus = () => post({ kind: 'status', status: health.addTo(replica.status()) })
  const timer = setInterval(reportStatus, STATUS_MS)
  try {
    await replica.run()
    if (untilEnd && !stop.signal.aborted) post({ kind: 'caught up' })
    post({ kind: 'over' })
  } catch {
    // The error is in the log and in the status. Serving continues, and another thread is started, unless this was an
    // attempt to catch up.
    if (untilEnd) post({ kind: 'over' })
  } finally {
    clearInterval(timer)
    reportStatus()
    await replica.close()
  }
} catch (error) {
  post({ kind: 'refused', message: messageOf(error), isUsage: error instanceof UsageError })
} finally {
  await input?.close()
  await checkpoints.close()
  port.close()
}
