import { parentPort } from 'node:worker_threads'
import { createL2BlockVerifier } from '../../chain/starknet/verifier.js'
import { messageOf } from '../../lib/errors.js'
import type { L2VerifierReply, L2VerifierRequest } from './l2Verifier.js'

/* Entry point of a thread that recomputes layer-2 block hashes. */

const port = parentPort!
const verify = createL2BlockVerifier()
port.on('message', ({ block, network }: L2VerifierRequest) => {
  port.postMessage(answer({ block, network }))
})

function answer({ block, network }: L2VerifierRequest): L2VerifierReply {
  try {
    return { verdict: verify(block, network) }
  } catch (error) {
    return { failure: messageOf(error) }
  }
}
