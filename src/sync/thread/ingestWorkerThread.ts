import { parentPort, workerData } from 'node:worker_threads'
import { useNativeSecp256k1 } from '../../chain/crypto.js'
import type { PendingBlock } from '../../chain/eth/types.js'
import { messageOf } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { SenderRecovery } from '../../sources/senders/senderRecovery.js'
import { Checkpointer } from '../../workers/checkpointer.js'
import { runWriter } from '../../workers/runWriter.js'
import { type FollowersStatus, openFollowers } from '../follow/openFollowers.js'
import type { IngestWorkerData, IngestWorkerReply, IngestWorkerRequest } from './ingestWorker.js'
import { createL2Verifier } from './l2Verifier.js'

/* Entry point of the thread that writes the chain of a server with upstreams. */

useNativeSecp256k1()
const { settings, logging, pending } = workerData as IngestWorkerData
const post = (reply: IngestWorkerReply) => parentPort!.postMessage(reply)
const log = createLogger(logging)
const checkpoints = new Checkpointer(settings.datadir)
const verifier = createL2Verifier()
const senderRecovery = new SenderRecovery({ isEnabled: settings.senderThread, log })

await runWriter<FollowersStatus, IngestWorkerRequest>(
  async (signal) => {
    const onPending = pending ? (block: PendingBlock | undefined) => post({ kind: 'pending', block }) : undefined
    const parts = { checkpoints, senderRecovery, l2Verify: verifier.verify, recovers: () => true, onPending }
    const followers = await openFollowers(settings, { log, signal, ...parts })
    const handle = (request: IngestWorkerRequest) => {
      if (request.kind === 'engine') {
        const { id, method, params } = request
        void followers.call!(method, params).then((reply) => post({ kind: 'engine', id, reply }))
        return
      }
      const { id, wanted } = request
      followers.fetchState(wanted).then(
        (keys) => post({ kind: 'state', id, keys }),
        (error) => post({ kind: 'state', id, problem: messageOf(error) }),
      )
    }
    return { ...followers, handle }
  },
  async () => {
    await verifier.close()
    await senderRecovery.close()
    await checkpoints.close()
  },
)
