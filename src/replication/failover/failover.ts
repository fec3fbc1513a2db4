import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { FollowersStatus } from '../../sync/follow/openFollowers.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import type { IngestWorker } from '../../sync/thread/ingestWorker.js'
import type { ReplicaWorker } from '../threads/replicaWorker.js'
import type { ActiveLeaderSession, LeaderSession } from './leaderSession.js'

/* States of a server that can be the writer, in a cycle. Each step waits for the threads of the step before to end, so
 * that at most one connection of the process writes the database. Serving continues meanwhile.
 *
 *   standby      removes its own blocks that are not in the stream, then applies the stream
 *   lease held   applies the stream up to its end, if it has blocks that are not stored
 *   writer       publishes its epoch, then the chain; follows the upstreams
 *   lease lost   stops following and publishing
 */

/** What failover starts. */
export interface RoleParts {
  readonly log: Logger
  /** Campaigns at once, without applying the stream first. */
  readonly beginsAsWriter: boolean
  startLeaderSession(): LeaderSession
  /** `until`: up to this sequence of the stream. `signal` ends a start that takes long. */
  startReplica(options: { until?: number; signal: AbortSignal }): Promise<ReplicaWorker>
  /** Absent without upstreams: another process imports the blocks. */
  startIngest?(options: { signal: AbortSignal }): Promise<IngestWorker>
  /** Status of following while no upstream is followed. */
  readonly idle: FollowersStatus
}

/** Blocks behind at which a process counts as catching up. */
const CATCHING_UP_BLOCKS = 16
/** Without an answer in this time, the first attempt to take the lease makes the process a standby. */
const FIRST_TRY_MS = 5000
/** Time that the lease must be free before a standby takes it: a restarted writer goes first. */
const GRACE_MS = 1000
/** Time without an alarm after which a replica may take the lease. */
const SETTLED_MS = 500
const LOOK_MS = 100
// Interval of the attempts to open a database that another process writes.
const OPEN_RETRY_MS = 1000
// Delay after a failure, doubled each time; reset after a leader session of a minute.
const FIRST_RETRY_MS = 500
const MAX_RETRY_MS = 5000
const LONG_TERM_MS = 60_000

/** Runs a server as standby or writer. Implements the calls of a thread that follows upstreams. */
export function runFailover(parts: RoleParts): IngestWorker {
  const { log, idle } = parts
  const stop = new AbortController()
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }))
  let ingest: IngestWorker | undefined
  let replica: ReplicaWorker | undefined
  let session: LeaderSession | undefined
  let isWriter = false
  let last: ReplicationStatus = {
    ...{ role: 'standby', epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0 },
    ...{ state: 'catching up', problem: null },
  }
  let problem: string | null = null
  /** Time until which nothing lagged. */
  let wholeMs = performance.now()

  const describeWriter = (): ReplicationStatus => {
    const { epoch, sequence, lagBlocks, lagSeconds, problem } = session!.status()
    const state = lagBlocks > CATCHING_UP_BLOCKS ? 'catching up' : 'following'
    return { role: 'writer', epoch, sequence, lagBlocks, lagSeconds, state, problem }
  }
  const status = (): ReplicationStatus => {
    if (isWriter) last = describeWriter()
    else if (replica) last = { ...replica.status(), role: 'standby' }
    if (isWriter || replica) wholeMs = performance.now() - 1000 * last.lagSeconds
    else {
      const { state } = last
      const lagSeconds = Math.floor((performance.now() - wholeMs) / 1000)
      const isStopped = state === 'alarm' || state === 'failed'
      const between = isStopped ? state : 'catching up'
      last = { ...last, role: 'standby', lagSeconds, state: between, problem: session?.status().problem ?? problem }
    }
    return last
  }
  const pause = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => {})
  /** Starts a thread, retrying while another process writes the database. Undefined when the leader session ended
   *  meanwhile. */
  const startWhenFree = async <T>(
    own: LeaderSession,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> => {
    const over = new AbortController()
    void Promise.race([own.ended, stopped]).then(() => over.abort(new Error('the leader session is over')))
    while (!over.signal.aborted) {
      try {
        const started = await start(over.signal)
        problem = null
        return started
      } catch (error) {
        if (over.signal.aborted) break
        if (problem !== messageOf(error)) log.error({ problem: messageOf(error) }, 'the database cannot be written yet')
        problem = messageOf(error)
        await waitFor(OPEN_RETRY_MS, over.signal)
      }
    }
    return undefined
  }
  /** Applies the stream until this process holds the lease. */
  const standBy = async (own: LeaderSession): Promise<void> => {
    replica = await startWhenFree(own, (signal) => parts.startReplica({ signal }))
    if (replica === undefined) return
    const over = new AbortController()
    const finish = Promise.race([own.held, own.ended, replica.ended, stopped]).then(() => over.abort())
    for (let soundMs = performance.now(); !over.signal.aborted; await waitFor(LOOK_MS, over.signal)) {
      const { state } = replica.status()
      if (state === 'alarm' || state === 'failed') soundMs = performance.now()
      if (performance.now() - soundMs < SETTLED_MS) continue
      own.seek(GRACE_MS)
      break
    }
    await finish
    await replica.close()
    const { state } = status()
    if (state === 'alarm' || state === 'failed') problem = last.problem
    replica = undefined
  }
  /** Applies the rest of the stream. @returns false when that failed */
  const catchUp = async (own: LeaderSession, until: number): Promise<boolean> => {
    const worker = await startWhenFree(own, (signal) => parts.startReplica({ until, signal }))
    if (worker === undefined) return false
    replica = worker
    await Promise.race([worker.ended, own.ended, stopped])
    await worker.close()
    const isCaughtUp = await worker.ended
    const { problem } = status()
    replica = undefined
    if (!isCaughtUp && !stop.signal.aborted) {
      log.error({ problem }, 'the stream could not be applied to its end; the lease is given back')
    }
    return isCaughtUp
  }
  const write = async (own: LeaderSession, epoch: number): Promise<void> => {
    own.publish()
    isWriter = true
    log.info({ epoch }, 'this process is the writer')
    const { startIngest } = parts
    if (startIngest) ingest = await startWhenFree(own, (signal) => startIngest({ signal }))
    await Promise.race([own.ended, stopped])
  }
  const attempt = async (triesAtOnce: boolean): Promise<void> => {
    const own = parts.startLeaderSession()
    session = own
    let held: ActiveLeaderSession | undefined
    void own.held.then((found) => {
      held = found
    })
    try {
      if (triesAtOnce) {
        own.seek(0)
        await Promise.race([own.held, own.taken, own.ended, stopped, pause(FIRST_TRY_MS)])
      }
      if (held === undefined && !stop.signal.aborted) await standBy(own)
      if (held === undefined || stop.signal.aborted) return
      if (!held.isWhole && !(await catchUp(own, held.end))) return
      if (!stop.signal.aborted) await write(own, held.epoch)
    } finally {
      if (isWriter) status()
      await ingest?.close() // before the last blocks are published
      ingest = undefined
      isWriter = false
      await own.close()
      problem = (await notifyEnd(own)) ?? problem
      session = undefined
    }
  }
  const notifyEnd = async (own: LeaderSession): Promise<string | null> => {
    const end = await own.ended
    if (stop.signal.aborted || end.problem === '') return null
    if (end.isLost) log.warn({ problem: end.problem }, 'this process is not the writer any more')
    else log.error({ problem: end.problem }, 'publishing failed')
    return end.problem
  }
  const live = async (): Promise<void> => {
    let retryMs = FIRST_RETRY_MS
    for (let count = 0; !stop.signal.aborted; count++) {
      const begunMs = performance.now()
      try {
        await attempt(parts.beginsAsWriter && count === 0)
      } catch (error) {
        problem = messageOf(error)
        log.error({ problem }, 'a change of the role failed')
      }
      if (performance.now() - begunMs > LONG_TERM_MS) retryMs = FIRST_RETRY_MS
      await pause(retryMs)
      retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)
    }
  }
  const living = live()
  return {
    status: () => ingest?.status() ?? idle,
    pending: () => ingest?.pending(),
    replication: status,
    close: async () => {
      stop.abort()
      await living
    },
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}
