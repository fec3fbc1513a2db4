import type { RpcLimits } from './context.js'

/** Limits of the API specification. */
export const DEFAULT_LIMITS: RpcLimits = {
  maxLogs: 10_000,
  maxFilterParams: 5_000,
  logsTimeoutMs: 10_000,
  callTimeoutMs: 5_000,
  traceTimeoutMs: 60_000,
  queueTimeoutMs: 10_000,
  gasCapPercent: 1_000,
  maxCallGas: 2_000_000_000,
  maxSimulationGas: 50_000_000,
  callMemoryBytes: 256 * 2 ** 20,
  maxReturnBytes: 10_000_000,
  slowLogsMs: 1_000,
}
