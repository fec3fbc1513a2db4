import { parentPort, workerData } from 'node:worker_threads'
import { useNativeSecp256k1 } from '../../chain/crypto.js'
import { HELPER_NICENESS, yieldToMainThread } from '../../workers/priority.js'
import { recoverSenders } from './senderBatch.js'
import type { SenderRecoveryReply, SenderRecoveryRequest } from './senderRecovery.js'

/* Entry point of a thread that recovers senders. It exits by itself and is never terminated. */

yieldToMainThread(HELPER_NICENESS)
useNativeSecp256k1()
const port = parentPort!
const stopped = new Uint8Array(workerData as SharedArrayBuffer)
const isStopped = () => Atomics.load(stopped, 0) === 1
port.on('message', (batch: SenderRecoveryRequest) => {
  if (batch === null || isStopped()) return port.close()
  recoverSenders(batch, isStopped)
  port.postMessage('done' satisfies SenderRecoveryReply)
})
