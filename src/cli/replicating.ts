import { UsageError } from '../lib/errors.js'
import { createLogger, type Logger } from '../lib/logger.js'
import type { ReplicaSettings } from '../replication/apply/replicaChain.js'
import type { StateElsewhere } from '../replication/failover/failover.js'
import type { ReplicaSourceSettings } from '../replication/threads/replicaInput.js'
import type { FollowSettings } from '../sync/follow/runFollower.js'
import type { IngestWorker } from '../sync/thread/ingestWorker.js'
import type { Config } from './config.js'
import { readFollowSettings } from './followSettings.js'
import { readLogging } from './options/output.js'
import type { ReplicationPlan } from './replicationSettings.js'

/** Starts the chain writer of a server that takes part in replication. Resolves once there is a database to serve,
 *  creating it if missing. @throws UsageError, CairnError when it cannot be opened */
export async function startReplicating(
  config: Config,
  plan: ReplicationPlan,
  stop: AbortSignal,
): Promise<IngestWorker> {
  const follow = await readFollowSettings(config)
  const log = createLogger(readLogging(config))
  if (plan.kind === 'http') return startReplica(config, plan, { follow, log })
  const { requireNatsSettings } = await import('../replication/nats/connection.js')
  requireNatsSettings(plan.nats)
  if (plan.kind === 'nats') return startReplica(config, plan, { follow, log })
  return startRoles(config, plan, { follow, log, stop })
}

/** @throws UsageError for a development chain, whose genesis only an upstream knows */
function readReplicaSettings({
  datadir,
  chain,
  stateMode,
  addressIndex,
  traces,
  stateCacheBytes,
}: FollowSettings): ReplicaSettings {
  if (chain && 'development' in chain) {
    throw new UsageError(
      '--network dev needs --upstream: a replica takes the chain from --genesis or another --network',
    )
  }
  return { datadir, chain, stateMode, addressIndex, traces, stateCacheBytes }
}

interface Parts {
  readonly follow: FollowSettings
  readonly log: Logger
}

async function startReplica(
  config: Config,
  source: ReplicaSourceSettings,
  { follow, log }: Parts,
): Promise<IngestWorker> {
  const settings = readReplicaSettings(follow)
  const { startReplicaWorker } = await import('../replication/threads/replicaWorker.js')
  const { status, close } = await startReplicaWorker({ settings, source, logging: readLogging(config) }, { log })
  const states = await openWriterState(source.kind === 'http' ? source.url : source.repairUrl, settings.datadir)
  return {
    status: () => ({ l1: null, l2: null }),
    pending: () => undefined,
    replication: status,
    fetchState: states.fetch,
    close: async () => {
      states.close()
      await close()
    },
  }
}

/** Opens what fetches state that is not known here. */
async function openWriterState(url: string | undefined, datadir: string): Promise<StateElsewhere> {
  const { noWriterState, WriterState } = await import('../replication/http/writerState.js')
  if (url === undefined) return { fetch: noWriterState, close: () => {} }
  const states = new WriterState(url, datadir)
  return { fetch: (wanted) => states.fetch(wanted), close: () => states.close() }
}

async function startRoles(
  config: Config,
  plan: Extract<ReplicationPlan, { kind: 'writer' | 'standby' }>,
  { follow, log, stop }: Parts & { stop: AbortSignal },
): Promise<IngestWorker> {
  const { describeIdle, startIngestWorker } = await import('../sync/thread/ingestWorker.js')
  const { startReplicaWorker } = await import('../replication/threads/replicaWorker.js')
  const { runFailover } = await import('../replication/failover/failover.js')
  const { startLeaderSession } = await import('../replication/failover/leaderSession.js')
  const { prepareReplica } = await import('../replication/apply/replicaChain.js')
  const { datadir } = follow
  const isFollowing = follow.upstreams.length > 0
  if (follow.chain && 'development' in follow.chain) await makeDevelopmentChain(follow, { log, stop })
  const chain = follow.chain && 'development' in follow.chain ? undefined : follow.chain
  const settings = { ...readReplicaSettings({ ...follow, chain }), role: 'standby' } as const
  const described = await prepareReplica(settings, { log, signal: stop })
  // What a replica applied lacks the calls: the index is kept while it is complete, and the server runs without it.
  const following = { ...follow, traces: follow.traces === false ? false : undefined }
  const logging = readLogging(config)
  const { nats, publishBlocks, repairUrl } = plan
  const source = { kind: 'nats', nats, repairUrl } as const
  const states = await openWriterState(repairUrl, datadir)
  return runFailover({
    log,
    beginsAsWriter: plan.kind === 'writer',
    startLeaderSession: () => startLeaderSession({ datadir, chain: described, nats, publishBlocks, logging }),
    startReplica: ({ until, signal }) =>
      startReplicaWorker(
        { settings: { ...settings, traces: undefined }, source: { ...source, until }, logging },
        { log, signal },
      ),
    startIngest: isFollowing
      ? ({ signal }) => startIngestWorker(following, { log, logging, pending: config.pending, signal })
      : undefined,
    idle: describeIdle(follow),
    states,
  })
}

/** Creates the database of a development chain, whose genesis comes from its upstream. @throws UsageError without an
 *  upstream */
async function makeDevelopmentChain(
  follow: FollowSettings,
  { log, stop }: { log: Logger; stop: AbortSignal },
): Promise<void> {
  if (follow.upstreams.length === 0) readReplicaSettings(follow)
  const { openFollowers } = await import('../sync/follow/openFollowers.js')
  const { createL2Verifier } = await import('../sync/thread/l2Verifier.js')
  const checkpoints = { afterCommit: () => undefined }
  const l2Verifier = createL2Verifier()
  const made = await openFollowers(follow, { log, signal: stop, checkpoints, l2Verify: l2Verifier.verify })
  made.close()
  await l2Verifier.close()
}
