import { UsageError } from '../lib/errors.js'
import { streamUrl } from '../replication/http/connection.js'
import type { NatsSettings } from '../replication/nats/connection.js'
import type { Config } from './config.js'
import { isFollowing } from './followSettings.js'
import { isNatsUrl } from './options/replication.js'

/** Replication role of a server, besides serving GET /replication. */
export type ReplicationPlan =
  /** Applies the blocks of another server. */
  | { readonly kind: 'http'; readonly url: string }
  /** Applies the blocks of a stream. `repairUrl` provides blocks that the stream no longer has. */
  | { readonly kind: 'nats'; readonly nats: NatsSettings; readonly repairUrl?: string }
  /** Publishes to a stream while it is the writer, and applies the blocks of the stream otherwise. */
  | {
      readonly kind: 'writer' | 'standby'
      readonly nats: NatsSettings
      readonly repairUrl?: string
      /** Number of blocks below the head at which an empty stream starts. */
      readonly publishBlocks: number
    }

const HOUR_MS = 3_600_000

/** Reads the replication role from the options; undefined if none. @throws UsageError for options that exclude or
 *  require each other */
export function readReplicationPlan(config: Config): ReplicationPlan | undefined {
  const { publish, replica, standby, replicaHttp, publishBlocks } = config
  const isStream = publish.length > 0 || replica.some(isNatsUrl)
  if (!isStream) requireNoStreamOptions(config)
  if (config.traces && (replica.length > 0 || standby)) {
    throw new UsageError(
      "--traces on: a replica does not execute blocks, and they come without their calls; 'cairn reindex --traces' adds them",
    )
  }
  if (publish.length > 0) {
    requirePublishable(config)
    const repairUrl = readRepair(replicaHttp)
    return { kind: 'writer', nats: readNats(config, publish), repairUrl, publishBlocks }
  }
  if (replica.length === 0) return undefined
  if (!isStream) return { kind: 'http', url: readHttp(config) }
  if (!replica.every(isNatsUrl)) {
    throw new UsageError(
      '--replica: takes NATS servers or one http URL, not both; --replica-http names the server that gives what the stream does not hold any more',
    )
  }
  const nats = readNats(config, replica)
  const repairUrl = readRepair(replicaHttp)
  if (standby) {
    requireLayer1('--standby', config)
    return { kind: 'standby', nats, repairUrl, publishBlocks }
  }
  if (isFollowing(config)) {
    throw new UsageError(
      '--replica excludes --upstream, --l2-upstream and --l2-feeder; with --standby the upstream is followed after the take-over',
    )
  }
  return { kind: 'nats', nats, repairUrl }
}

function readHttp(config: Config): string {
  const { replica } = config
  if (isFollowing(config)) throw new UsageError('--replica excludes --upstream, --l2-upstream and --l2-feeder')
  if (replica.length > 1) throw new UsageError(`--replica: takes one http URL, got ${replica.length}`)
  streamUrl(replica[0]) // refused before anything starts
  return replica[0]
}

function readRepair(url: string | undefined): string | undefined {
  if (url !== undefined) streamUrl(url, '--replica-http')
  return url
}

/** Returns the settings of NATS servers. */
export function readNats(config: Config, servers: readonly string[]): NatsSettings {
  const { natsCredentials, natsCa, streamReplicas, streamMaxAge, streamMaxSize } = config
  return {
    servers,
    credentialsFile: natsCredentials,
    caFile: natsCa,
    streamReplicas,
    maxAgeMs: streamMaxAge * HOUR_MS,
    maxBytes: streamMaxSize === undefined ? undefined : streamMaxSize * 2 ** 20,
  }
}

function requirePublishable(config: Config): void {
  if (config.replica.length > 0) {
    throw new UsageError(
      '--publish excludes --replica: it applies the blocks of another writer by itself; a server that only takes over is --replica nats://… --standby',
    )
  }
  if (config.standby) {
    throw new UsageError('--publish excludes --standby: a server that only takes over is --replica nats://… --standby')
  }
  requireLayer1('--publish', config)
}

function requireLayer1(option: string, { l2Upstream, l2Feeder }: Config): void {
  if (l2Upstream.length + l2Feeder.length === 0) return
  throw new UsageError(
    `${option} excludes --l2-upstream and --l2-feeder: layer 2 is not in the stream; follow it in a server of its own`,
  )
}

function requireNoStreamOptions({ standby, replicaHttp, natsCredentials, natsCa, sink }: Config): void {
  const isSink = sink !== undefined && isNatsUrl(sink)
  const given = [
    ['--standby', standby],
    ['--replica-http', replicaHttp !== undefined],
    ['--nats-credentials', natsCredentials !== undefined && !isSink],
    ['--nats-ca', natsCa !== undefined && !isSink],
  ].find(([, isGiven]) => isGiven)
  if (given === undefined) return
  const wanted = standby ? '--replica nats://HOST:PORT' : '--replica nats://HOST:PORT or --publish nats://HOST:PORT'
  throw new UsageError(`${given[0]} needs ${wanted}`)
}
