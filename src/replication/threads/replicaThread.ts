import { parentPort, workerData } from 'node:worker_threads'
import { createLogger } from '../../lib/logger.js'
import { Checkpointer } from '../../workers/checkpointer.js'
import { runWriter } from '../../workers/runWriter.js'
import { openReplica } from '../apply/openReplica.js'
import { createBlockVerifier } from './blockVerifier.js'
import { openReplicaInput, type ReplicaInput } from './replicaInput.js'
import type { ReplicaData, ReplicaReply } from './replicaWorker.js'
import { TrieHasherHandle } from './trieHasher.js'

/* Entry point of the thread that writes the chain of a replica. */

const { settings, source, logging } = workerData as ReplicaData
const post = (reply: ReplicaReply) => parentPort!.postMessage(reply)
const log = createLogger(logging)
const checkpoints = new Checkpointer(settings.datadir)
/** An attempt to catch up ends with its first failure. */
const untilEnd = source.kind === 'nats' && source.until !== undefined
let input: ReplicaInput | undefined

await runWriter(open, async () => {
  await input?.close()
  await checkpoints.close()
})

async function open(signal: AbortSignal) {
  input = await openReplicaInput(source, { log, signal })
  const { openSource, findPublished, sourceHead, health } = input
  const replica = await openReplica(
    { ...settings, untilEnd },
    {
      ...{ log, signal, checkpoints, openSource, findPublished, sourceHead },
      openVerifier: createBlockVerifier,
      openHasher: (data) => new TrieHasherHandle(data),
      recovers: () => !untilEnd,
    },
  )
  const run = async () => {
    try {
      await replica.run()
      if (untilEnd && !signal.aborted) post({ kind: 'caught up' })
      post({ kind: 'over' })
    } catch (error) {
      if (untilEnd) post({ kind: 'over' })
      throw error
    }
  }
  return { run, status: () => health.addTo(replica.status()), close: replica.close }
}
