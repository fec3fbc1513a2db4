import { parentPort, workerData } from 'node:worker_threads'
import { useNativeSecp256k1 } from '../../chain/crypto.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { HELPER_NICENESS, yieldToMainThread } from '../../workers/priority.js'
import { verifyParts } from '../apply/verifyReplicated.js'
import { decodeInflated, inflateMessage } from '../codec/message.js'
import type { BlockVerifierReply, BlockVerifierRequest } from './blockVerifier.js'

/* Entry point of a thread that inflates and verifies the blocks of a replica. It exits by itself and is never
 * terminated. */

yieldToMainThread(HELPER_NICENESS)
useNativeSecp256k1()
const port = parentPort!
const isStopped = new Uint8Array(workerData as SharedArrayBuffer)
port.on('message', (request: BlockVerifierRequest) => {
  if (isStopped[0] || request === null) return port.close()
  const body = verify(request)
  port.postMessage(body, body ? [body.buffer as ArrayBuffer] : [])
})

function verify({ block, family, senders }: Exclude<BlockVerifierRequest, null>): BlockVerifierReply {
  try {
    const body = inflateMessage(block.payload).slice() // a buffer of its own can be transferred
    const rules = familyOf({ family })
    verifyParts(decodeInflated(block, body, rules), rules, senders)
    return body
  } catch {
    return null // the writer finds the reason again, and throws it
  }
}
