import { Worker } from 'node:worker_threads'
import { type ChainSource, specOfSource } from '../../store/rows/chainSource.js'
import type { Verdict, VerifyElsewhere } from '../apply/unitQueue.js'
import { takeVerified, verifyReplicated } from '../apply/verifyReplicated.js'
import type { EncodedBlock } from '../codec/types.js'
import type { BlockVerifierReply, BlockVerifierRequest } from './blockVerifierProtocol.js'

/** A thread that verifies the blocks of a replica ahead of its writer. */
export interface BlockVerifier {
  readonly verify: VerifyElsewhere
  /** Ends the thread. Queued blocks are verified in the caller's thread on `take`. */
  close(): Promise<void>
}

interface Job {
  readonly block: EncodedBlock
  resolve(verdict: Verdict): void
}

/** Starts the thread with the first block, and again after it died. */
export function createBlockVerifier(source: ChainSource): BlockVerifier {
  const spec = specOfSource(source)
  const waiting: Job[] = []
  /** Set: the thread accepts no more blocks. */
  const isStopped = new Uint8Array(new SharedArrayBuffer(1))
  let thread: Worker | undefined
  let isClosed = false
  const answer = (reply: BlockVerifierReply) => {
    const { block, resolve } = waiting.shift()!
    if (waiting.length === 0) thread?.unref() // an idle thread does not keep the process alive
    resolve({
      isRight: reply !== null,
      take: () => (reply ? takeVerified(block, reply, spec) : verifyReplicated(block, spec)),
    })
  }
  const start = () => {
    const worker = new Worker(new URL('./blockVerifierThread.js', import.meta.url), { workerData: isStopped.buffer })
    const end = () => {
      if (thread !== worker) return // `exit` after `error`
      thread = undefined
      while (waiting.length > 0) answer(null)
    }
    worker.on('message', answer)
    worker.on('error', end)
    worker.on('exit', end)
    return worker
  }
  return {
    verify: (block, senders = 'all') =>
      new Promise((resolve) => {
        waiting.push({ block, resolve })
        if (isClosed) return answer(null)
        thread ??= start()
        thread.ref()
        const payload = new Uint8Array(block.payload) // a copy: of a view, the whole buffer would be sent
        const request: BlockVerifierRequest = { block: { ...block, payload }, senders }
        thread.postMessage(request, [payload.buffer])
      }),
    close: async () => {
      isClosed = true
      const ending = thread
      if (ending === undefined) return
      ending.ref() // otherwise the process would exit before the end of the thread is noticed
      const ended = new Promise((resolve) => ending.once('exit', resolve))
      isStopped[0] = 1
      ending.postMessage(null satisfies BlockVerifierRequest)
      await ended
    },
  }
}
