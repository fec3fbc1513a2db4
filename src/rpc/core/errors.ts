import type { BlockRange } from '../../chain/eth/types.js'
import { decodeRevertReason } from '../../decoding/revertReason.js'
import {
  CallFailed,
  CallMemoryExceeded,
  CallReverted,
  ListedTrieUnavailable,
  PastTrieTooFar,
  ReturnDataTooLong,
  SimulationRefused,
  type SimulationRule,
  StateUnavailable,
} from '../../evm/errors.js'
import { StreamUnavailable } from '../../export/stream/errors.js'
import { AddressIndexMissing } from '../../index/addresses/errors.js'
import {
  LogScanTimeout,
  LogsUnavailable,
  TooManyFilterParams,
  TooManyLogs,
  TooManyTopics,
} from '../../index/logs/errors.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { CairnError } from '../../lib/errors.js'
import { encodeDataJson, formatData, formatQuantity } from '../../lib/hex.js'
import { L2BlockUnavailable, L2PartUnavailable } from '../../store/l2/unavailable.js'
import { EmptyDatabase } from '../../store/rows/chainReader.js'
import { TraceIndexMissing } from '../../store/rows/traceRows.js'
import { StateNotListable } from '../../store/state/sparseState.js'
import { MissingTrieNode, MissingTrieNodes, type StateKeys } from '../../trie/missingNodes.js'

/** Accounts and slots that are not known. */
export interface UnknownState {
  readonly keys: readonly StateKeys[]
  /** Not only the values, but the trie nodes that prove them. */
  readonly isProof: boolean
  /** The block after which the state was read, if that is one. */
  readonly blockNumber?: number
  /** The first block after that one that may have changed it: fetching cannot prove it any more. */
  readonly changedAt?: number
}

/** The `error` member of a response. */
export interface RpcErrorBody {
  code: number
  message: string
  data?: unknown
  /** The `data` member as finished JSON, instead of `data`; written by the thread that ran the call. */
  dataJson?: Uint8Array
  /** Sparse state that the call needs and is not known. Not sent. */
  missing?: UnknownState
}

// Longer revert data is passed between threads as finished JSON; shorter data is cheaper to copy as text.
const SHORT_DATA_BYTES = 2048

/** An error response with its JSON-RPC code. Thrown only in rpc and above. */
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

/** The error if there is no memory for a request or its response. */
export const SERVER_BUSY: RpcErrorBody = { code: LIMIT_EXCEEDED, message: 'server busy' }

/** -32602 with that message. */
export function invalidParams(message: string): RpcError {
  return new RpcError(INVALID_PARAMS, message)
}

/** Error of methods that read the state trie of a database with sparse state, which knows it only in part. More follows
 *  in the message. */
export const STATE_TRIE_ERROR = {
  code: SERVER_ERROR,
  message: 'the state trie is not known there (sparse state)',
  when: 'the state is sparse, and the trie lacks a node that the request needs',
} as const

/** The error for a block beyond the head, with the head in `data`. */
export function beyondHead(code: number, message: string, head: number): RpcError {
  return new RpcError(code, message, { head: formatQuantity(head) })
}

/** -32602 `invalid argument N: …`: thrown by decoders; the dispatcher adds N. */
export class InvalidValue extends CairnError {}

/** Message for a log query timeout (API specification). */
export const QUERY_TIMEOUT = 'query timeout exceeded'

/** Codes of invalid simulations (execution-apis, eth_simulateV1; geth if it is silent). */
const SIMULATION_CODES: { readonly [rule in SimulationRule]: number } = {
  'nonce too low': -38010,
  'nonce too high': -38011,
  'nonce max': -32603, // the recorded case of the official suite
  'fee cap': -38012,
  'priority fee': INVALID_PARAMS,
  difficulty: INVALID_PARAMS,
  'intrinsic gas': -38013,
  funds: -38014,
  'block gas limit': -38015,
  'block number': -38020,
  'block timestamp': -38021,
  'init code size': -38025,
  limit: -38026,
  other: SERVER_ERROR, // -32603 in geth, which here means a server fault
}

type Translation = (error: never, method: string) => RpcErrorBody

/** Maps every error class of the lower layers to a code and a message. All mappings are here. */
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
  [StreamUnavailable, ({ message }: StreamUnavailable) => ({ code: INVALID_PARAMS, message })],
  [TooManyTopics, () => ({ code: INVALID_PARAMS, message: 'exceed max topics' })],
  [
    LogsUnavailable,
    ({ firstAvailable }: LogsUnavailable) => ({
      code: SERVER_ERROR,
      message: `logs before block ${firstAvailable} are not available, the first block is ${firstAvailable}`,
    }),
  ],
  [
    CallReverted,
    ({ data }: CallReverted) => {
      const message = revertMessage(data)
      const written = data.length > SHORT_DATA_BYTES ? { dataJson: encodeDataJson(data) } : { data: formatData(data) }
      return { code: EXECUTION_REVERTED, message, ...written }
    },
  ],
  [CallMemoryExceeded, ({ message }: CallMemoryExceeded) => ({ code: SERVER_ERROR, message })],
  [ReturnDataTooLong, ({ message }: ReturnDataTooLong) => ({ code: SERVER_ERROR, message })],
  [SimulationRefused, ({ rule, message }: SimulationRefused) => ({ code: SIMULATION_CODES[rule], message })],
  [CallFailed, ({ message }: CallFailed) => ({ code: SERVER_ERROR, message })],
  [PastTrieTooFar, ({ message }: PastTrieTooFar, method) => ({ code: SERVER_ERROR, message: `${method}: ${message}` })],
  [
    MissingTrieNode,
    ({ hash }: MissingTrieNode) => ({
      code: STATE_TRIE_ERROR.code,
      message: unknownTrieMessage(`the node ${formatData(hash)} is missing`),
    }),
  ],
  [
    ListedTrieUnavailable,
    ({ message }: ListedTrieUnavailable) => ({ code: STATE_TRIE_ERROR.code, message: unknownTrieMessage(message) }),
  ],
  [
    MissingTrieNodes,
    ({ before, after }: MissingTrieNodes) => {
      const addresses = [...before, ...after].map(({ address }) => formatData(address))
      return { code: STATE_TRIE_ERROR.code, message: unknownTrieMessage(`nodes of ${listOf(addresses)} are missing`) }
    },
  ],
  [AddressIndexMissing, ({ message }: AddressIndexMissing) => ({ code: SERVER_ERROR, message })],
  [TraceIndexMissing, ({ message }: TraceIndexMissing) => ({ code: SERVER_ERROR, message })],
  [StateUnavailable, ({ message }: StateUnavailable) => ({ code: SERVER_ERROR, message })],
  [L2PartUnavailable, ({ message }: L2PartUnavailable) => ({ code: SERVER_ERROR, message })],
  [L2BlockUnavailable, ({ message }: L2BlockUnavailable) => ({ code: SERVER_ERROR, message })],
  [StateNotListable, ({ message }: StateNotListable) => ({ code: SERVER_ERROR, message })],
  [EmptyDatabase, ({ message }: EmptyDatabase) => ({ code: SERVER_ERROR, message })],
]

/** Message of a revert with that data. */
export function revertMessage(data: Uint8Array): string {
  const reason = decodeRevertReason(data)
  return reason === undefined ? 'execution reverted' : `execution reverted: ${reason}`
}

/** A narrower range for which the query succeeds, as `data`. */
function fittingRange(fits: BlockRange | undefined): Pick<RpcErrorBody, 'data'> {
  return fits ? { data: { from: formatQuantity(fits.from), to: formatQuantity(fits.to) } } : {}
}

// An update may lack nodes of thousands of accounts.
const LISTED_ADDRESSES = 4

function listOf(addresses: readonly string[]): string {
  const more = addresses.length - LISTED_ADDRESSES
  const listed = addresses.slice(0, LISTED_ADDRESSES).join(', ')
  return more > 0 ? `${listed} and ${more} more accounts` : listed
}

/** Message for a state trie of a database with sparse state that lacks what the request needs, as `details` says. */
function unknownTrieMessage(details: string): string {
  return `${STATE_TRIE_ERROR.message}: ${details}`
}

/** Message for a query with more than `limit` results (API specification). */
export function tooManyLogsMessage(limit: number): string {
  return `query returned more than ${limit} results`
}

/** The body of an error of a method, if it is mapped; undefined for any other, which becomes `internal error`. */
export function translateError(error: unknown, method: string): RpcErrorBody | undefined {
  for (const [errorClass, translate] of translations) {
    if (error instanceof errorClass) return translate(error as never, method)
  }
  return undefined
}
