import type { AccessListEntry, Authorization } from '../../chain/eth/types.js'
import type { CallRequest } from '../../evm/calls/callRequest.js'
import { equalBytes } from '../../lib/bytes.js'
import type { ChainReader } from '../../store/chain/types.js'
import { InvalidValue, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'
import {
  address,
  arrayOf,
  data,
  hash32,
  maybe,
  objectOf,
  quantity,
  quantity64,
  required,
  type ValueType,
} from '../core/params.js'

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
  data: maybe(data),
  input: maybe(data),
  chainId: maybe(quantity),
  accessList: maybe(arrayOf(accessEntry)),
  blobVersionedHashes: maybe(arrayOf(hash32)),
  authorizationList: maybe(arrayOf(authorization)),
}

const members = objectOf(memberTypes)

/** Members of a call object; others are ignored. */
export const CALL_MEMBERS: readonly string[] = Object.keys(memberTypes)

const callObject: ValueType<CallObject> = {
  schema: members.schema,
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

/** The request of a call object. @throws RpcError if it names another chain id. */
export function requestForChain(chain: ChainReader, call: CallObject): CallRequest {
  const served = chain.chainId()
  if (call.chainId !== undefined && call.chainId !== served) {
    throw new RpcError(SERVER_ERROR, `chainId does not match node's (have=${call.chainId}, want=${served})`)
  }
  return call.request
}

/** Errors of a call besides the state errors. */
export const CALL_ERRORS: readonly ErrorDoc[] = [
  { code: 3, message: 'execution reverted: <reason>' },
  { code: SERVER_ERROR, message: 'out of gas, invalid opcode: …, stack underflow … (failures of the execution)' },
  {
    code: SERVER_ERROR,
    message: 'err: … (supplied gas …) (calls that cannot begin; eth_estimateGas: failed with … gas: …)',
  },
  { code: SERVER_ERROR, message: 'out of memory budget: the call needs more than 268435456 bytes' },
  { code: SERVER_ERROR, message: 'return data of … bytes exceeds the limit of 10000000' },
  { code: SERVER_ERROR, message: 'execution aborted (timeout = 5s)' },
  { code: SERVER_ERROR, message: "chainId does not match node's (have=…, want=…)" },
]
