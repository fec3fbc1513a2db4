import type { AccessListEntry, Authorization } from '../../chain/eth/types.js'
import { type CallRequest, requireMembersTogether } from '../../evm/calls/callRequest.js'
import type { CallOverrides } from '../../evm/calls/overrides.js'
import { CallFailed } from '../../evm/errors.js'
import { equalBytes } from '../../lib/bytes.js'
import type { ChainReader } from '../../store/rows/types.js'
import { InvalidValue, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'
import {
  address,
  arrayOf,
  dataOrEmpty,
  hash32,
  maybe,
  objectOf,
  quantity,
  quantity64,
  required,
  type ValueType,
} from '../core/params.js'
import { requireCallOverrides } from './blockOverrides.js'

/** A call object as received: the request, and the chain id that the sender expects. */
export interface CallObject {
  request: CallRequest
  chainId?: bigint
}

const accessEntry: ValueType<AccessListEntry> = objectOf({ address, storageKeys: arrayOf(hash32) })

const authorization: ValueType<Authorization> = objectOf({
  chainId: quantity,
  address,
  nonce: quantity64,
  yParity: quantity,
  r: quantity,
  s: quantity,
})

const memberTypes = {
  from: maybe(address),
  to: maybe(address),
  gas: maybe(quantity64),
  gasPrice: maybe(quantity),
  maxFeePerGas: maybe(quantity),
  maxPriorityFeePerGas: maybe(quantity),
  maxFeePerBlobGas: maybe(quantity),
  value: maybe(quantity),
  nonce: maybe(quantity64),
  data: maybe(dataOrEmpty),
  input: maybe(dataOrEmpty),
  chainId: maybe(quantity),
  accessList: maybe(arrayOf(accessEntry)),
  blobVersionedHashes: maybe(arrayOf(hash32)),
  authorizationList: maybe(arrayOf(authorization)),
}

const members = objectOf(memberTypes)

/** Members of a call object; others are ignored. */
export const CALL_MEMBERS: readonly string[] = Object.keys(memberTypes)

/** A call object. `data` and `input` are the same member. */
export const callObject: ValueType<CallObject> = {
  schema: { title: 'call', ...members.schema },
  decode: (value, path) => {
    const { input, chainId, ...rest } = members.decode(value, path)
    if (input && rest.data && !equalBytes(input, rest.data)) {
      throw new InvalidValue(`${path}: data and input differ; send only input`)
    }
    return { request: { ...rest, data: input ?? rest.data }, chainId }
  },
}

/** The first parameter of `eth_call` and `eth_estimateGas`. */
export const callParam = required('call', callObject, 'the message call; `data` and `input` are the same member')

/** The request of a call object. @throws RpcError if it names another chain id; CallFailed if its members contradict
 *  each other. */
export function requestForChain(chain: ChainReader, call: CallObject): CallRequest {
  const served = chain.chainId()
  if (call.chainId !== undefined && call.chainId !== served) {
    requireMembersTogether(call.request)
    throw new RpcError(SERVER_ERROR, `chainId does not match node's (have=${call.chainId}, want=${served})`)
  }
  return call.request
}

/** The same with overrides. @throws RpcError; CallFailed for block overrides that calls do not accept. */
export function overriddenRequest(chain: ChainReader, call: CallObject, overrides: CallOverrides): CallRequest {
  const request = requestForChain(chain, call)
  requireBlobsForFee(request)
  const { accounts, block } = overrides
  if (accounts === undefined && block === undefined) return request
  return { ...request, overrides: { accounts, block: requireCallOverrides(block) } }
}

/** @throws CallFailed for a blob fee without blobs, in geth's words */
export function requireBlobsForFee({ maxFeePerBlobGas, blobVersionedHashes }: CallRequest): void {
  if (maxFeePerBlobGas !== undefined && !blobVersionedHashes?.length)
    throw new CallFailed(BLOB_FEE_WITHOUT_BLOBS.message)
}

/** Error of a call that cannot start. */
export const CALL_REFUSED: ErrorDoc = { code: SERVER_ERROR, message: 'err: … (supplied gas …)' }

/** Errors of calls that need more than a limit of the server. */
export const CALL_LIMIT_ERRORS: readonly ErrorDoc[] = [
  { code: SERVER_ERROR, message: 'out of memory budget: the call needs more than 268435456 bytes' },
  { code: SERVER_ERROR, message: 'execution aborted (timeout = 5s)' },
]

/** Errors of a request to run one or more calls that contradicts itself. */
export const CALL_REQUEST_ERRORS: readonly ErrorDoc[] = [
  { code: SERVER_ERROR, message: 'account … is not a precompile' },
  { code: SERVER_ERROR, message: 'account … is already overridden' },
  { code: SERVER_ERROR, message: "account … has both 'state' and 'stateDiff'" },
  { code: SERVER_ERROR, message: "chainId does not match node's (have=…, want=…)" },
  { code: SERVER_ERROR, message: 'both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified' },
  { code: SERVER_ERROR, message: 'maxFeePerGas and maxPriorityFeePerGas are not valid before London is active' },
  { code: SERVER_ERROR, message: 'blob transaction of type create' },
  { code: SERVER_ERROR, message: 'EIP-7702 transaction cannot be used to create contract' },
]

/** For methods of one call without a trace. */
export const BLOB_FEE_WITHOUT_BLOBS: ErrorDoc = {
  code: SERVER_ERROR,
  message: 'maxFeePerBlobGas specified without blobVersionedHashes',
}

/** Errors of a call, besides the state errors. */
export const CALL_ERRORS: readonly ErrorDoc[] = [
  { code: 3, message: 'execution reverted' },
  { code: SERVER_ERROR, message: 'invalid opcode: …' },
  { code: SERVER_ERROR, message: 'stack underflow (… <=> …)' },
  { code: SERVER_ERROR, message: 'max code size exceeded: code size … limit …' },
  { code: SERVER_ERROR, message: 'block override "…" is not supported for this RPC method' },
  ...CALL_LIMIT_ERRORS,
  ...CALL_REQUEST_ERRORS,
  BLOB_FEE_WITHOUT_BLOBS,
]
