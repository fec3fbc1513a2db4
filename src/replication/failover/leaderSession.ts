import { Worker } from 'node:worker_threads'
import { describeError } from '../../lib/errors.js'
import type {
  LeaderSessionData,
  LeaderSessionReply,
  LeaderSessionRequest,
  LeaderSessionStatus,
} from './leaderSessionProtocol.js'

/** Why a leader session ended. */
export interface LeaderSessionEnd {
  readonly problem: string
  /** True when another process holds the lease, or may; false for a failure. */
  readonly isLost: boolean
}

/** A leader session that holds its lease. */
export interface ActiveLeaderSession {
  readonly epoch: number
  /** The last sequence of the stream. */
  readonly end: number
  /** True when the database has everything in the stream. */
  readonly isWhole: boolean
}

/** One leader session: from the wait for the lease to its loss, in a thread of its own. */
export interface LeaderSession {
  /** Campaigns: takes the lease once it has been free for `graceMs`. */
  seek(graceMs: number): void
  /** Resolves when this process holds the lease. */
  readonly held: Promise<ActiveLeaderSession>
  /** Resolves when another process is seen to hold the lease. */
  readonly taken: Promise<void>
  /** Publishes the chain from now on. */
  publish(): void
  status(): LeaderSessionStatus
  /** Resolves when the thread has ended. */
  readonly ended: Promise<LeaderSessionEnd>
  /** Publishes what is committed, for at most two seconds, releases the lease, and ends the thread. */
  close(): Promise<void>
}

/** Starts the thread. It takes the lease only after `seek`. */
export function startLeaderSession(workerData: LeaderSessionData): LeaderSession {
  const worker = new Worker(new URL('./leaderSessionThread.js', import.meta.url), { workerData })
  const ask = (request: LeaderSessionRequest) => worker.postMessage(request)
  let status: LeaderSessionStatus = { epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0, problem: null }
  let end: LeaderSessionEnd = { problem: 'the thread that publishes ended', isLost: false }
  let onTaken = () => {}
  let onHeld: (held: ActiveLeaderSession) => void = () => {}
  const taken = new Promise<void>((resolve) => {
    onTaken = resolve
  })
  const held = new Promise<ActiveLeaderSession>((resolve) => {
    onHeld = resolve
  })
  worker.on('message', (reply: LeaderSessionReply) => {
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
  const ended = new Promise<LeaderSessionEnd>((resolve) => {
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
