import { CallFailed, CallMemoryExceeded, CallReverted, ReturnDataTooLong, StateUnavailable } from '../../evm/errors.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'
import { encodeDataJson, formatData, formatQuantity } from '../../lib/hex.js'
import {
  type BlockRange,
  LogScanTimeout,
  LogsNotHeld,
  TooManyFilterParams,
  TooManyLogs,
  TooManyTopics,
} from '../../logs/errors.js'
import { EmptyDatabase } from '../../store/chain/chainReader.js'
import { decodeRevertReason } from '../revertReason.js'

/** What goes into the `error` member of a response. */
export interface RpcErrorBody {
  code: number
  message: string
  data?: unknown
  /** The `data` member as finished JSON, in place of `data`: large data is written by the thread that ran the call. */
  dataJson?: Uint8Array
}

// Bytes of revert data beyond which it is handed on as finished JSON. Less is cheaper to copy between threads as a text.
const SHORT_DATA_BYTES = 2048

/** An answer that is an error, with its JSON-RPC code. Thrown only on the rpc floor and above. */
export class RpcError extends CairnError {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
export const SERVER_ERROR = -32000
export const UNAUTHORIZED = -32002
export const RESPONSE_TOO_LARGE = -32003
export const LIMIT_EXCEEDED = -32005
export const EXECUTION_REVERTED = 3

/** What is answered where there is no room for a request or its answer. */
export const SERVER_BUSY: RpcErrorBody = { code: LIMIT_EXCEEDED, message: 'server busy' }

/** -32602 with the words as they are. */
export function invalidParams(message: string): RpcError {
  return new RpcError(INVALID_PARAMS, message)
}

/** An answer to a block that is beyond the head, which its `data` names. */
export function beyondHead(code: number, message: string, head: number): RpcError {
  return new RpcError(code, message, { head: formatQuantity(head) })
}

/** -32602 `invalid argument N: …`; decoders throw it as `InvalidValue`, and the dispatcher knows N. */
export class InvalidValue extends CairnError {}

/** The contract's words for a log query that took too long. */
export const QUERY_TIMEOUT = 'query timeout exceeded'

type Translation = (error: never) => RpcErrorBody

/** Every class of error from the floors below, with its code and words. Rows are added with `translateError`'s table only. */
const translations: [abstract new (...args: never[]) => Error, Translation][] = [
  [
    RpcError,
    (error: RpcError) => ({
      code: error.code,
      message: error.message,
      ...(error.data === undefined ? {} : { data: error.data }),
    }),
  ],
  [
    LogScanTimeout,
    ({ fits }: LogScanTimeout) => ({ code: LIMIT_EXCEEDED, message: QUERY_TIMEOUT, ...fittingRange(fits) }),
  ],
  [DeadlineExceeded, () => ({ code: LIMIT_EXCEEDED, message: QUERY_TIMEOUT })],
  [
    TooManyLogs,
    ({ limit, fits }: TooManyLogs) => ({
      code: LIMIT_EXCEEDED,
      message: tooManyLogsMessage(limit),
      ...fittingRange(fits),
    }),
  ],
  [
    TooManyFilterParams,
    ({ count, limit }: TooManyFilterParams) => ({
      code: INVALID_PARAMS,
      message: `query contains ${count} parameters, the limit is ${limit}`,
    }),
  ],
  [TooManyTopics, () => ({ code: INVALID_PARAMS, message: 'exceed max topics' })],
  [
    LogsNotHeld,
    ({ firstHeld }: LogsNotHeld) => ({
      code: SERVER_ERROR,
      message: `logs before block ${firstHeld} are not held, the first block is ${firstHeld}`,
    }),
  ],
  [
    CallReverted,
    ({ data }: CallReverted) => {
      const reason = decodeRevertReason(data)
      const message = reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
      const written = data.length > SHORT_DATA_BYTES ? { dataJson: encodeDataJson(data) } : { data: formatData(data) }
      return { code: EXECUTION_REVERTED, message, ...written }
    },
  ],
  [CallMemoryExceeded, ({ message }: CallMemoryExceeded) => ({ code: SERVER_ERROR, message })],
  [ReturnDataTooLong, ({ message }: ReturnDataTooLong) => ({ code: SERVER_ERROR, message })],
  [CallFailed, ({ message }: CallFailed) => ({ code: SERVER_ERROR, message })],
  [StateUnavailable, ({ message }: StateUnavailable) => ({ code: SERVER_ERROR, message })],
  [EmptyDatabase, ({ message }: EmptyDatabase) => ({ code: SERVER_ERROR, message })],
]

/** A narrower range that the same query is answered for, as `data`. */
function fittingRange(fits: BlockRange | undefined): Pick<RpcErrorBody, 'data'> {
  return fits ? { data: { from: formatQuantity(fits.from), to: formatQuantity(fits.to) } } : {}
}

/** The contract's words for a query that more than `limit` logs match. */
export function tooManyLogsMessage(limit: number): string {
  return `query returned more than ${limit} results`
}

/** The body for an error that the table knows; undefined for one that nobody foresaw, which is `internal error`. */
export function translateError(error: unknown): RpcErrorBody | undefined {
  for (const [errorClass, translate] of translations) {
    if (error instanceof errorClass) return translate(error as never)
  }
  return undefined
}
