import { readFileSync } from 'node:fs'
import type { RpcLimits } from '../rpc/core/context.js'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../server/limits/limits.js'
import type { Config } from './config.js'

/** The limits of requests that the options give. */
export function readLimits(config: Config): RpcLimits {
  return {
    maxLogs: config.maxLogs,
    maxFilterParams: config.maxFilterParams,
    logsTimeoutMs: config.logsTimeout,
    callTimeoutMs: config.callTimeout,
    queueTimeoutMs: config.queueTimeout,
    gasCapPercent: config.gasCap,
    maxCallGas: config.maxCallGas * 1e6,
    callMemoryBytes: config.callMemory * 2 ** 20,
    maxReturnBytes: config.maxReturnData,
    slowLogsMs: config.slowLogs,
  }
}

/** What clients together may take, by the options. */
export function readServerLimits(config: Config): ServerLimits {
  return {
    ...DEFAULT_SERVER_LIMITS,
    maxConnections: config.maxConnections ?? defaultConnections(),
    maxInFlight: config.maxInFlight,
    bodyBytes: config.bodyMemory * 1_000_000,
    outputBytes: config.outputMemory * 1_000_000,
  }
}

/** As many connections as the default, or as files may be open beside those of the database and the threads. */
function defaultConnections(): number {
  return Math.max(64, Math.min(DEFAULT_SERVER_LIMITS.maxConnections, openFileLimit() - OTHER_FILES))
}

/** The database, its log and index by each thread, segment files, pipes of threads. */
const OTHER_FILES = 500

/** The soft limit of open files, which Node raises to the hard one at its start; no limit where the system does not tell. */
function openFileLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
