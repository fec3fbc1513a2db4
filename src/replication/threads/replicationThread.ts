import { parentPort, workerData } from 'node:worker_threads'
import { openForReading } from '../../store/open.js'
import { createReplicatedChain } from '../replicatedChain.js'
import { createReplicationStreams } from './replicationStreams.js'
import type { ReplicationReply, ReplicationRequest, ReplicationThreadData } from './replicationWorker.js'

/* Entry point of the thread that reads blocks for replicas and compresses them: some milliseconds a block, which
 * would block the main thread. */

/** Interval of the checks for a commit. A check takes 5 µs. */
const LOOK_MS = 4

const port = parentPort!
const { datadir } = workerData as ReplicationThreadData
const db = openForReading(datadir)
const post = (reply: ReplicationReply, transfer: ArrayBuffer[] = []) => port.postMessage(reply, transfer)
const streams = createReplicationStreams(createReplicatedChain(db), {
  send: (id, frames) => {
    const bytes = new Uint8Array(frames) // its own memory, which can be transferred
    post({ kind: 'frames', id, bytes }, [bytes.buffer])
  },
  end: (id, end) => post({ kind: 'end', id, end }),
})
let next: NodeJS.Immediate | undefined
const work = () => {
  next = undefined
  if (streams.work(performance.now())) next = setImmediate(work)
}
const wake = () => {
  next ??= setImmediate(work)
}
const timer = setInterval(wake, LOOK_MS)
port.on('message', (request: ReplicationRequest) => {
  if (request.kind === 'open') streams.open(request.id, request.start)
  else if (request.kind === 'taken') streams.taken(request.id, request.bytes)
  else if (request.kind === 'close') streams.close(request.id)
  else {
    clearInterval(timer)
    if (next !== undefined) clearImmediate(next)
    db.close()
    port.close()
    return
  }
  wake()
})
