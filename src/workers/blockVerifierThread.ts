import { parentPort } from 'node:worker_threads'
import { requireRoots } from '../ingest/replication/apply/verifyReplicated.js'
import { decodeInflated, inflateMessage } from '../ingest/replication/message.js'
import type { BlockVerifierReply, BlockVerifierRequest } from './blockVerifierProtocol.js'
import { HELPER_NICENESS, yieldToMainThread } from './priority.js'

/* Entry point of a thread that inflates and verifies the blocks of a replica. */

yieldToMainThread(HELPER_NICENESS)
const port = parentPort!
port.on('message', (block: BlockVerifierRequest) => {
  const body = verify(block)
  port.postMessage(body, body ? [body.buffer as ArrayBuffer] : [])
})

function verify(block: BlockVerifierRequest): BlockVerifierReply {
  try {
    const body = inflateMessage(block.payload).slice() // a buffer of its own can be transferred
    requireRoots(decodeInflated(block, body))
    return body
  } catch {
    return null // the writer finds the reason again, and throws it
  }
}
