import { parentPort, workerData } from 'node:worker_threads'
import { useNativeSecp256k1 } from '../../chain/crypto.js'
import type { PendingBlock } from '../../chain/eth/types.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { createCheckpointer } from '../../workers/checkpointer.js'
import { openFollowers } from '../follow/openFollowers.js'
import type { IngestWorkerData, IngestWorkerReply } from './ingestWorkerProtocol.js'
import { createL2Verifier } from './l2Verifier.js'

/* Entry point of the thread that writes the chain of a server with upstreams. It ends itself: nothing terminates it. */

const STATUS_MS = 250

useNativeSecp256k1()
const port = parentPort!
const { settings, logging, pending } = workerData as IngestWorkerData
const post = (reply: IngestWorkerReply) => port.postMessage(reply)
const stop = new AbortController()
port.once('message', () => stop.abort(new Error('the server stops')))
const checkpoints = createCheckpointer(settings.datadir)
const verifier = createL2Verifier()
try {
  const log = createLogger(logging)
  const onPending = pending ? (block: PendingBlock | undefined) => post({ kind: 'pending', block }) : undefined
  const parts = { log, signal: stop.signal, checkpoints, l2Verify: verifier.verify, recovers: () => true, onPending }
  const follower = await openFollowers(settings, parts)
  post({ kind: 'opened' })
  const reportStatus = () => post({ kind: 'status', status: follower.status() })
  const timer = setInterval(reportStatus, STATUS_MS)
  try {
    await follower.run()
  } catch {
    // The error is in the log and in the status. Another thread is started: serving continues, and following resumes.
  } finally {
    clearInterval(timer)
    reportStatus()
    follower.close()
  }
} catch (error) {
  post({ kind: 'refused', message: messageOf(error), isUsage: error instanceof UsageError })
} finally {
  await verifier.close()
  await checkpoints.close()
  port.close()
}
