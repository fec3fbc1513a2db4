import { parentPort, workerData } from 'node:worker_threads'
import { openReplica, type ReplicaChain } from '../ingest/replication/apply/openReplica.js'
import { createHttpSource } from '../ingest/replication/http/httpSource.js'
import type { ReplicationStatus } from '../ingest/replication/status.js'
import type { ReplicationSource } from '../ingest/replication/types.js'
import { messageOf, UsageError } from '../lib/errors.js'
import { createLogger } from '../lib/logger.js'
import { createBlockVerifier } from './blockVerifier.js'
import { createCheckpointer } from './checkpointer.js'
import type { ReplicaData, ReplicaReply } from './replicaProtocol.js'

/* Entry point of the thread that writes the chain of a replica. It ends itself: nobody terminates it. */

const STATUS_MS = 250

const port = parentPort!
const { settings, source, logging } = workerData as ReplicaData
const tell = (reply: ReplicaReply) => port.postMessage(reply)
const stop = new AbortController()
port.once('message', () => stop.abort(new Error('the server stops')))
const log = createLogger(logging)
const checkpoints = createCheckpointer(settings.datadir)
/** Why there is no connection; null while there is one. */
let connection: string | null = null

function onProblem(problem: string | null): void {
  if (problem !== null && connection === null) log.warn({ problem }, 'no connection to the writer')
  if (problem === null && connection !== null) log.info({}, 'connected to the writer')
  connection = problem
}

function openSource(chain: ReplicaChain): ReplicationSource {
  return createHttpSource({ url: source.url, chain, onProblem })
}

try {
  const parts = { log, signal: stop.signal, checkpoints, openSource, openVerifier: createBlockVerifier }
  const replica = await openReplica(settings, parts)
  tell({ kind: 'opened' })
  const status = (): ReplicationStatus => {
    const own = replica.status()
    return { ...own, problem: own.problem ?? connection }
  }
  const tellStatus = () => tell({ kind: 'status', status: status() })
  const timer = setInterval(tellStatus, STATUS_MS)
  try {
    await replica.run()
  } catch {
    // It is in the log and in the status. Serving goes on.
    tell({ kind: 'over' })
  } finally {
    clearInterval(timer)
    tellStatus()
    await replica.close()
  }
} catch (error) {
  tell({ kind: 'refused', message: messageOf(error), isUsage: error instanceof UsageError })
} finally {
  await checkpoints.close()
  port.close()
}
