import { parentPort, workerData } from 'node:worker_threads'
import { verifyInflated } from '../ingest/replication/apply/verifyReplicated.js'
import { inflateMessage } from '../ingest/replication/message.js'
import { specOfSource } from '../store/chain/chainSource.js'
import type { BlockVerifierData, BlockVerifierReply, BlockVerifierRequest } from './blockVerifierProtocol.js'

/* Entry point of a thread that inflates and verifies the blocks of a replica. */

const port = parentPort!
const spec = specOfSource(workerData as BlockVerifierData)
port.on('message', (block: BlockVerifierRequest) => {
  const body = verify(block)
  port.postMessage(body, body ? [body.buffer as ArrayBuffer] : [])
})

function verify(block: BlockVerifierRequest): BlockVerifierReply {
  try {
    const body = inflateMessage(block.payload).slice() // a buffer of its own can be transferred
    verifyInflated(block, body, spec)
    return body
  } catch {
    return null // the writer finds the reason again, and throws it
  }
}
