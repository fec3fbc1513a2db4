import type { PendingBlock } from '../../chain/eth/types.js'
import { CairnError } from '../../lib/errors.js'
import type { Logger, LogSettings } from '../../lib/logger.js'
import { spawnWriter, type WriterReply } from '../../workers/spawn.js'
import type { EngineFigures } from '../engine/engineFigures.js'
import type { EngineReply } from '../engine/openEngine.js'
import type { FollowersStatus } from '../follow/openFollowers.js'
import type { FollowSettings } from '../follow/runFollower.js'
import type { FollowStatus } from '../follow/status.js'
import type { ReplicationStatus } from '../replicationStatus.js'
import type { WantedState } from '../sparse/stateOnDemand.js'
import { EngineRequests } from './engineRequests.js'
import { PendingRequests } from './pendingRequests.js'

/** Start data of the thread. */
export interface IngestWorkerData {
  readonly settings: FollowSettings
  readonly logging: LogSettings
  /** Report the upstream's pending block. */
  readonly pending: boolean
}

/** A request to the thread: to fetch and store state that is not known, or a method of the Engine API. */
export type IngestWorkerRequest =
  | { readonly kind: 'state'; readonly id: number; readonly wanted: WantedState }
  | { readonly kind: 'engine'; readonly id: number; readonly method: string; readonly params: unknown }

/** Outcome of a request for state: the number of accounts and slots that were asked for, or why it is not stored. */
type StateOutcome = { readonly keys: number; readonly problem?: undefined } | { readonly problem: string }

type StateReply = { readonly kind: 'state'; readonly id: number } & StateOutcome

/** Status reports of the thread, and outcomes of its requests. */
export type IngestWorkerReply =
  | WriterReply
  | StateReply
  | { readonly kind: 'engine'; readonly id: number; readonly reply: EngineReply }
  | { readonly kind: 'pending'; readonly block: PendingBlock | undefined }
  | { readonly kind: 'status'; readonly status: FollowersStatus }

/** A thread that follows upstreams. It is the only writer of the database. */
export interface IngestWorker {
  /** Returns a status at most 250 ms old; the last one when following has ended. */
  status(): FollowersStatus
  /** Returns the upstream's pending block, at most a second old; undefined where it has none or `pending` does not ask
   *  for it. */
  pending(): PendingBlock | undefined
  /** Fetches state of a database with sparse state from the upstream; resolves when it is stored, with the number of
   *  accounts and slots that were asked for because of the request. Absent where nothing is followed.
   *  @throws CairnError with the reason why it cannot be fetched, at the latest a second after the time that `wanted`
   *  allows */
  fetchState?(wanted: WantedState): Promise<number>
  /** Answers a method of the Engine API; absent where no consensus client drives the chain. Payloads and fork choices
   *  that take longer than a consensus client waits are answered with SYNCING, and processed all the same. */
  engine?(method: string, params: unknown): Promise<EngineReply>
  /** Its part in replication; absent without one. */
  replication?(): ReplicationStatus
  /** Ends the thread after the current transaction. */
  close(): Promise<void>
}

const STARTING: FollowStatus = {
  ...{ state: 'starting', block: null, upstreamBlock: null, syncStart: null, blocksPerSecond: 0, secondsLeft: null },
  ...{ reorgs: 0, removedBlocks: 0, problem: null, stopped: null, upstreams: [] },
}

const NO_FIGURES: EngineFigures = {
  ...{ newPayloads: 0, forkchoices: 0, invalidPayloads: 0, lastRequestSeconds: null, payloads: 0, payloadBytes: 0 },
}

/** Returns the status before following begins. */
export function describeIdle({ upstreams, l2, engine }: FollowSettings): FollowersStatus {
  return {
    l1: engine ? { ...STARTING, engine: NO_FIGURES } : upstreams.length > 0 ? STARTING : null,
    l2: l2 ? { ...STARTING, upstreamHash: null, acceptedOnL1: null } : null,
  }
}

/** Starts the thread. Resolves when the database is open for writing, created if missing. A thread that dies later is
 *  replaced.
 *  @throws UsageError, CairnError when it cannot be opened, as `openFollower` says */
export async function startIngestWorker(
  settings: FollowSettings,
  { log, logging, pending, signal }: { log: Logger; logging: LogSettings; pending: boolean; signal?: AbortSignal },
): Promise<IngestWorker> {
  let status = describeIdle(settings)
  let pendingBlock: PendingBlock | undefined
  const states = createStateRequests()
  const engine = new EngineRequests()
  const fail = (problem: string) => {
    states.fail(problem)
    engine.fail()
    const failed = { state: 'failed', problem } as const
    status = { l1: status.l1 && { ...status.l1, ...failed }, l2: status.l2 && { ...status.l2, ...failed } }
  }
  const thread = await spawnWriter<IngestWorkerReply, IngestWorkerRequest>({
    url: new URL('./ingestWorkerThread.js', import.meta.url),
    data: { settings, logging, pending } satisfies IngestWorkerData,
    does: 'follows the upstreams',
    log,
    signal,
    onReply: (reply) => {
      if (reply.kind === 'pending') pendingBlock = reply.block
      else if (reply.kind === 'status') status = reply.status
      else if (reply.kind === 'engine') engine.settle(reply.id, reply.reply)
      else states.settle(reply)
    },
    onFailure: fail,
  })
  const fetchState = (wanted: WantedState) =>
    states.add(wanted.timeoutMs, (id) => thread.post({ kind: 'state', id, wanted }))
  const call = (method: string, params: unknown) =>
    engine.add(method, (id) => thread.post({ kind: 'engine', id, method, params }))
  return {
    status: () => status,
    pending: () => pendingBlock,
    fetchState,
    ...(settings.engine && { engine: call }),
    close: thread.close,
  }
}

// The thread rejects a request in time, unless it is busy with a block or has ended.
const GRACE_MS = 1_000

/** Requests for state that have no outcome yet. */
function createStateRequests() {
  const pending = new PendingRequests<StateOutcome>()
  return {
    add: async (timeoutMs: number, post: (id: number) => void): Promise<number> => {
      const late = `the thread that follows the upstreams did not answer within ${Math.round(timeoutMs) / 1000} s`
      const reply = await pending.add(post, { timeoutMs: timeoutMs + GRACE_MS, late: { problem: late } })
      if (reply.problem !== undefined) throw new CairnError(reply.problem)
      return reply.keys
    },
    settle: (reply: StateReply) => pending.settle(reply.id, reply),
    fail: (problem: string) => pending.settleAll({ problem }),
  }
}
