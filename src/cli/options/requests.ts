import { DEFAULT_LIMITS } from '../../rpc/core/limits.js'
import { DEFAULT_SERVER_LIMITS } from '../../server/admission/limits.js'
import { DEFAULT_STREAM_LIMITS } from '../../server/stream/streamLimits.js'
import type { Option } from './option.js'
import { number } from './rows.js'

/** Options under the heading "Limits of requests". */
export const requestsOptions = {
  logsTimeout: number('logs-timeout', 'MS', DEFAULT_LIMITS.logsTimeoutMs, ['serve', 'explain-logs'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Timeout of a log query.',
  }),
  callTimeout: number('call-timeout', 'MS', DEFAULT_LIMITS.callTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Timeout of a call.',
  }),
  traceTimeout: number('trace-timeout', 'MS', DEFAULT_LIMITS.traceTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Timeout of a trace, with the time that its client takes to read it.',
  }),
  queueTimeout: number('queue-timeout', 'MS', DEFAULT_LIMITS.queueTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Longest wait of a log query or call for a thread; then it is refused.',
  }),
  minBlockWait: number('min-block-wait', 'MS', DEFAULT_SERVER_LIMITS.minBlockWaitMs, ['serve'], {
    min: 0,
    max: 30_000,
    unit: 'milliseconds',
    doc:
      'Longest wait of a request with the header Cairn-Min-Block for that block; then it is refused with status 503. ' +
      '0: refused at once.',
  }),
  maxLogs: number('max-logs', 'N', DEFAULT_LIMITS.maxLogs, ['serve', 'explain-logs'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most logs that a query may return.',
  }),
  maxFilterParams: number('max-filter-params', 'N', DEFAULT_LIMITS.maxFilterParams, ['serve', 'explain-logs'], {
    min: 1,
    max: 100_000,
    doc: 'Most addresses and topic values in one filter.',
  }),
  gasCap: number('gas-cap', 'PERCENT', DEFAULT_LIMITS.gasCapPercent, ['serve'], {
    min: 1,
    max: 100_000,
    unit: 'percent',
    doc: "Cap of a call's gas, relative to the block's gas limit.",
  }),
  maxCallGas: number('max-call-gas', 'MGAS', DEFAULT_LIMITS.maxCallGas / 1e6, ['serve'], {
    min: 1,
    max: 1_000_000,
    unit: 'million gas',
    doc: "Absolute cap of a call's gas; the smaller of this and --gas-cap applies.",
  }),
  simulationGas: number('simulation-gas', 'MGAS', DEFAULT_LIMITS.maxSimulationGas / 1e6, ['serve'], {
    min: 1,
    max: 1_000_000,
    unit: 'million gas',
    doc: 'Gas of all calls of an eth_simulateV1 together.',
  }),
  callMemory: number('call-memory', 'MIB', DEFAULT_LIMITS.callMemoryBytes / 2 ** 20, ['serve'], {
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    doc:
      'Memory of one call: its frames, return data, output, and the state it reads and changes. Each thread runs one ' +
      'call at a time.',
  }),
  maxReturnData: number('max-return-data', 'BYTES', DEFAULT_LIMITS.maxReturnBytes, ['serve'], {
    min: 1,
    max: 100_000_000,
    unit: 'bytes',
    doc: 'Longest data that a call may return or revert with.',
  }),
  streams: number('streams', 'N', DEFAULT_STREAM_LIMITS.streams, ['serve'], {
    min: 0,
    max: 1_000,
    doc:
      'Responses of POST /v3/<API_KEY>/stream at a time; one key, or one address without keys, may have half of them, and ' +
      'further ones get 503. 0: not served.',
  }),
  streamTimeout: number('stream-timeout', 'SECONDS', DEFAULT_STREAM_LIMITS.timeoutMs / 1000, ['serve'], {
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'A stream ends after this time and says where to resume.',
  }),
  streamRate: number('stream-rate', 'MB', DEFAULT_STREAM_LIMITS.bytesPerSecond / 1e6, ['serve'], {
    min: 0,
    max: 100_000,
    unit: 'MB per second',
    doc: 'Megabytes per second of all streams of a key, or of an address without keys; 0: no limit.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
