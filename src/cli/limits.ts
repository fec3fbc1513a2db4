import { DEFAULT_REPLICATION_LIMITS, type ReplicationLimits } from '../replication/http/replicationLimits.js'
import type { RpcLimits } from '../rpc/core/context.js'
import { DEFAULT_SUBSCRIPTION_LIMITS, type SubscriptionLimits } from '../rpc/subscriptions/limits.js'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../server/admission/limits.js'
import type { SqlLimits } from '../server/sql/sqlLimits.js'
import type { StreamLimits } from '../server/stream/streamLimits.js'
import type { Config } from './config.js'
import { OTHER_FILES, openFileLimit } from './openFileLimit.js'

/** Reads the limits of requests from the options. */
export function readLimits(config: Config): RpcLimits {
  return {
    maxLogs: config.maxLogs,
    maxFilterParams: config.maxFilterParams,
    logsTimeoutMs: config.logsTimeout,
    callTimeoutMs: config.callTimeout,
    traceTimeoutMs: config.traceTimeout,
    queueTimeoutMs: config.queueTimeout,
    gasCapPercent: config.gasCap,
    maxCallGas: config.maxCallGas * 1e6,
    maxSimulationGas: config.simulationGas * 1e6,
    callMemoryBytes: config.callMemory * 2 ** 20,
    maxReturnBytes: config.maxReturnData,
    slowLogsMs: config.slowLogs,
  }
}

/** Reads the limits of all clients together from the options. */
export function readServerLimits(config: Config): ServerLimits {
  return {
    ...DEFAULT_SERVER_LIMITS,
    maxConnections: config.maxConnections ?? defaultConnections(),
    maxInFlight: config.maxInFlight,
    minBlockWaitMs: config.minBlockWait,
    bodyBytes: config.bodyMemory * 1_000_000,
    outputBytes: config.outputMemory * 1_000_000,
    notificationBytes: config.subscriptionQueue * 1_000_000,
  }
}

/** Reads the limits of SQL from the options; undefined if SQL is not served. */
export function readSqlLimits(config: Config): SqlLimits | undefined {
  if (!config.sql) return undefined
  return {
    timeoutMs: config.sqlTimeout * 1000,
    maxRows: config.sqlMaxRows,
    memoryBytes: config.sqlMemory * 2 ** 20,
    processes: config.sqlProcesses,
  }
}

/** Reads the limits of bulk streams from the options; undefined if they are not served. */
export function readStreamLimits(config: Config): StreamLimits | undefined {
  if (config.streams === 0) return undefined
  return {
    streams: config.streams,
    timeoutMs: config.streamTimeout * 1_000,
    bytesPerSecond: config.streamRate * 1_000_000,
  }
}

/** Reads the limits of subscriptions and filters from the options. */
export function readSubscriptionLimits(config: Config): SubscriptionLimits {
  return {
    ...DEFAULT_SUBSCRIPTION_LIMITS,
    connectionSubscriptions: config.maxSubscriptions,
    clientSubscriptions: config.maxKeySubscriptions,
    filters: config.maxFilters,
    filterBytes: config.filterMemory * 1_000_000,
    filterTimeoutMs: config.filterTimeout * 1_000,
  }
}

/** Reads the limits of `/replication` from the options; undefined if it is not served. */
export function readReplicationLimits(config: Config): ReplicationLimits | undefined {
  return config.replication ? { ...DEFAULT_REPLICATION_LIMITS, streams: config.replicationStreams } : undefined
}

/** Returns the default, capped at the open-file limit minus the files of database and threads. */
function defaultConnections(): number {
  return Math.max(64, Math.min(DEFAULT_SERVER_LIMITS.maxConnections, openFileLimit() - OTHER_FILES))
}
