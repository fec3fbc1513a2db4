import type { RpcLimits } from '../rpc/context.js'
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
