import { Worker } from 'node:worker_threads'
import { describeError } from '../../lib/errors.js'
import type { TermData, TermReply, TermRequest, TermStatus } from './termProtocol.js'

/** Why a term is over. */
export interface TermEnd {
  readonly problem: string
  /** The lease is another's, or may be; false for a failure. */
  readonly isLost: boolean
}

/** A lease that is held. */
export interface HeldTerm {
  readonly epoch: number
  /** The last sequence of the stream. */
  readonly end: number
  /** The database holds everything in the stream. */
  readonly isWhole: boolean
}

/** One attempt to be the writer: from the wait for the lease to its loss, in a thread of its own. */
export interface Term {
  /** Takes the lease once it has been free for `graceMs`. */
  seek(graceMs: number): void
  /** Resolves when the lease is held. */
  readonly held: Promise<HeldTerm>
  /** Resolves when another process is seen to have the lease. */
  readonly taken: Promise<void>
  /** Publishes the chain from now on. */
  publish(): void
  status(): TermStatus
  /** Resolves when the thread has ended. */
  readonly ended: Promise<TermEnd>
  /** Publishes what is committed, for at most two seconds, gives the lease back, and ends the thread. */
  close(): Promise<void>
}

/** Starts the thread. It takes no lease before it is told to. */
export function startTerm(workerData: TermData): Term {
  const worker = new Worker(new URL('./termThread.js', import.meta.url), { workerData })
  const ask = (request: TermRequest) => worker.postMessage(request)
  let status: TermStatus = { epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0, problem: null }
  let end: TermEnd = { problem: 'the thread that publishes ended', isLost: false }
  let onTaken = () => {}
  let onHeld: (held: HeldTerm) => void = () => {}
  const taken = new Promise<void>((resolve) => {
    onTaken = resolve
  })
  const held = new Promise<HeldTerm>((resolve) => {
    onHeld = resolve
  })
  worker.on('message', (reply: TermReply) => {
    if (reply.kind === 'status') status = reply.status
    else if (reply.kind === 'taken') onTaken()
    else if (reply.kind === 'held') {
      status = { ...status, epoch: reply.epoch }
      onHeld(reply)
    } else end = reply
  })
  worker.on('error', (error) => {
    end = { problem: describeError(error), isLost: false }
  })
  const ended = new Promise<TermEnd>((resolve) => {
    worker.once('exit', () => resolve(end))
  })
  return {
    seek: (graceMs) => ask({ kind: 'seek', graceMs }),
    held,
    taken,
    publish: () => ask({ kind: 'publish' }),
    status: () => status,
    ended,
    close: async () => {
      ask({ kind: 'stop' })
      await ended
    },
  }
}
