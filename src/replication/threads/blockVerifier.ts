import type { FamilyName } from '../../chain/eth/families/name.js'
import { type ChainSource, specOfSource } from '../../store/rows/chainSource.js'
import { Thread } from '../../workers/spawn.js'
import type { Verdict, VerifyElsewhere } from '../apply/unitQueue.js'
import { type CheckedSenders, takeVerified, verifyReplicated } from '../apply/verifyReplicated.js'
import type { EncodedBlock } from '../codec/types.js'

/** A block to verify; each gets one reply, in order. Null wakes a thread that must stop. */
export type BlockVerifierRequest = { block: EncodedBlock; family?: FamilyName; senders: CheckedSenders } | null

/** The inflated message of a valid block; null for an invalid one. */
export type BlockVerifierReply = Uint8Array | null

/** A thread that verifies the blocks of a replica ahead of its writer. */
interface BlockVerifier {
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
  let thread: Thread<BlockVerifierRequest, BlockVerifierReply> | undefined
  let isClosed = false
  const answer = (reply: BlockVerifierReply) => {
    const { block, resolve } = waiting.shift()!
    resolve({
      isRight: reply !== null,
      take: () => (reply ? takeVerified(block, reply, spec) : verifyReplicated(block, spec)),
    })
  }
  const start = () =>
    new Thread<BlockVerifierRequest, BlockVerifierReply>(new URL('./blockVerifierThread.js', import.meta.url), {
      data: isStopped.buffer,
      keepsAlive: 'busy',
      onMessage: answer,
      onEnd: () => {
        thread = undefined
        while (waiting.length > 0) answer(null)
      },
    })
  return {
    verify: (block, senders = 'all') =>
      new Promise((resolve) => {
        waiting.push({ block, resolve })
        if (isClosed) return answer(null)
        thread ??= start()
        const payload = new Uint8Array(block.payload) // a copy: of a view, the whole buffer would be sent
        thread.post({ block: { ...block, payload }, family: spec.family, senders }, [payload.buffer])
      }),
    close: async () => {
      isClosed = true
      isStopped[0] = 1
      await thread?.end(null)
    },
  }
}
