import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { FollowersStatus } from '../../sync/follow/openFollowers.js'
import type { ReplicationStatus } from '../../sync/replicationStatus.js'
import type { WantedState } from '../../sync/sparse/stateOnDemand.js'
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
  /** Fetches state while no upstream is followed. */
  readonly states: StateElsewhere
}

/** Fetches state that is not known, for requests. */
export interface StateElsewhere {
  /** As `IngestWorker.fetchState`. */
  fetch(wanted: WantedState): Promise<number>
  close(): void
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
  const failover = new Failover(parts)
  return {
    status: () => failover.following(),
    pending: () => failover.pending(),
    replication: () => failover.status(),
    fetchState: (wanted) => failover.fetchState(wanted),
    close: () => failover.close(),
  }
}

/** The role of this process, its threads and what it reports. */
class Failover {
  private readonly parts: RoleParts
  private readonly log: Logger
  private readonly stop = new AbortController()
  private readonly stopped = new Promise<void>((resolve) =>
    this.stop.signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  private ingest: IngestWorker | undefined
  private replica: ReplicaWorker | undefined
  private session: LeaderSession | undefined
  private isWriter = false
  private last: ReplicationStatus = {
    ...{ role: 'standby', epoch: 0, sequence: 0, lagBlocks: 0, lagSeconds: 0 },
    ...{ state: 'catching up', problem: null },
  }
  private problem: string | null = null
  /** Time until which nothing lagged. */
  private wholeMs = performance.now()
  private readonly living: Promise<void>

  constructor(parts: RoleParts) {
    this.parts = parts
    this.log = parts.log
    this.living = this.live()
  }

  /** Returns the status of the thread that follows the upstreams. */
  following(): FollowersStatus {
    return this.ingest?.status() ?? this.parts.idle
  }

  /** Returns the pending block of that thread; undefined without one. */
  pending(): ReturnType<IngestWorker['pending']> {
    return this.ingest?.pending()
  }

  /** Fetches state from the upstream of the writer, else elsewhere. */
  fetchState(wanted: WantedState): Promise<number> {
    return this.ingest?.fetchState?.(wanted) ?? this.parts.states.fetch(wanted)
  }

  /** Returns the role, and how far this process is behind. */
  status(): ReplicationStatus {
    if (this.isWriter) this.last = this.describeWriter()
    else if (this.replica) this.last = { ...this.replica.status(), role: 'standby' }
    if (this.isWriter || this.replica) this.wholeMs = performance.now() - 1000 * this.last.lagSeconds
    else {
      const { state } = this.last
      const lagSeconds = Math.floor((performance.now() - this.wholeMs) / 1000)
      const isStopped = state === 'alarm' || state === 'failed'
      const between = isStopped ? state : 'catching up'
      this.last = {
        ...this.last,
        role: 'standby',
        lagSeconds,
        state: between,
        problem: this.session?.status().problem ?? this.problem,
      }
    }
    return this.last
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    this.stop.abort()
    await this.living
    this.parts.states.close()
  }

  private describeWriter(): ReplicationStatus {
    const { epoch, sequence, lagBlocks, lagSeconds, problem } = this.session!.status()
    const state = lagBlocks > CATCHING_UP_BLOCKS ? 'catching up' : 'following'
    return { role: 'writer', epoch, sequence, lagBlocks, lagSeconds, state, problem }
  }

  private pause(ms: number) {
    return sleep(ms, undefined, { signal: this.stop.signal }).catch(() => {})
  }

  /** Starts a thread, retrying while another process writes the database. Undefined when the leader session ended
   *  meanwhile. */
  private async startWhenFree<T>(
    own: LeaderSession,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const over = new AbortController()
    void Promise.race([own.ended, this.stopped]).then(() => over.abort(new Error('the leader session is over')))
    while (!over.signal.aborted) {
      try {
        const started = await start(over.signal)
        this.problem = null
        return started
      } catch (error) {
        if (over.signal.aborted) break
        if (this.problem !== messageOf(error))
          this.log.error({ problem: messageOf(error) }, 'the database cannot be written yet')
        this.problem = messageOf(error)
        await waitFor(OPEN_RETRY_MS, over.signal)
      }
    }
    return undefined
  }

  /** Applies the stream until this process holds the lease. */
  private async standBy(own: LeaderSession): Promise<void> {
    this.replica = await this.startWhenFree(own, (signal) => this.parts.startReplica({ signal }))
    if (this.replica === undefined) return
    const over = new AbortController()
    const finish = Promise.race([own.held, own.ended, this.replica.ended, this.stopped]).then(() => over.abort())
    for (let soundMs = performance.now(); !over.signal.aborted; await waitFor(LOOK_MS, over.signal)) {
      const { state } = this.replica.status()
      if (state === 'alarm' || state === 'failed') soundMs = performance.now()
      if (performance.now() - soundMs < SETTLED_MS) continue
      own.seek(GRACE_MS)
      break
    }
    await finish
    await this.replica.close()
    const { state } = this.status()
    if (state === 'alarm' || state === 'failed') this.problem = this.last.problem
    this.replica = undefined
  }

  /** Applies the rest of the stream. @returns false when that failed */
  private async catchUp(own: LeaderSession, until: number): Promise<boolean> {
    const worker = await this.startWhenFree(own, (signal) => this.parts.startReplica({ until, signal }))
    if (worker === undefined) return false
    this.replica = worker
    await Promise.race([worker.ended, own.ended, this.stopped])
    await worker.close()
    const isCaughtUp = await worker.ended
    const { problem } = this.status()
    this.replica = undefined
    if (!isCaughtUp && !this.stop.signal.aborted) {
      this.log.error({ problem }, 'the stream could not be applied to its end; the lease is given back')
    }
    return isCaughtUp
  }

  private async write(own: LeaderSession, epoch: number): Promise<void> {
    own.publish()
    this.isWriter = true
    this.log.info({ epoch }, 'this process is the writer')
    const { startIngest } = this.parts
    if (startIngest) this.ingest = await this.startWhenFree(own, (signal) => startIngest({ signal }))
    await Promise.race([own.ended, this.stopped])
  }

  private async attempt(triesAtOnce: boolean): Promise<void> {
    const own = this.parts.startLeaderSession()
    this.session = own
    let held: ActiveLeaderSession | undefined
    void own.held.then((found) => {
      held = found
    })
    try {
      if (triesAtOnce) {
        own.seek(0)
        await Promise.race([own.held, own.taken, own.ended, this.stopped, this.pause(FIRST_TRY_MS)])
      }
      if (held === undefined && !this.stop.signal.aborted) await this.standBy(own)
      if (held === undefined || this.stop.signal.aborted) return
      if (!held.isWhole && !(await this.catchUp(own, held.end))) return
      if (!this.stop.signal.aborted) await this.write(own, held.epoch)
    } finally {
      if (this.isWriter) this.status()
      await this.ingest?.close() // before the last blocks are published
      this.ingest = undefined
      this.isWriter = false
      await own.close()
      this.problem = (await this.notifyEnd(own)) ?? this.problem
      this.session = undefined
    }
  }

  private async notifyEnd(own: LeaderSession): Promise<string | null> {
    const end = await own.ended
    if (this.stop.signal.aborted || end.problem === '') return null
    if (end.isLost) this.log.warn({ problem: end.problem }, 'this process is not the writer any more')
    else this.log.error({ problem: end.problem }, 'publishing failed')
    return end.problem
  }

  private async live(): Promise<void> {
    let retryMs = FIRST_RETRY_MS
    for (let count = 0; !this.stop.signal.aborted; count++) {
      const begunMs = performance.now()
      try {
        await this.attempt(this.parts.beginsAsWriter && count === 0)
      } catch (error) {
        this.problem = messageOf(error)
        this.log.error({ problem: this.problem }, 'a change of the role failed')
      }
      if (performance.now() - begunMs > LONG_TERM_MS) retryMs = FIRST_RETRY_MS
      await this.pause(retryMs)
      retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)
    }
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}
