import { encodeTransaction, transactionHash } from '../../chain/eth/transaction.js'
import type { Transaction, TransactionType } from '../../chain/eth/types.js'
import type { CallRequest } from '../../evm/calls/callRequest.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { findBlock, requireStateBlock, STATE_UNAVAILABLE } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod, type ErrorDoc } from '../core/method.js'
import { data, decodeMembers, isAbsent, required, type ValueType } from '../core/params.js'
import { CALL_ERRORS, type CallObject, callObject, requestForChain } from './callObject.js'
import { BOTH_FEE_KINDS, FEE_ERRORS, FEES_BEFORE_LONDON, fillFees } from './fillFees.js'
import { formatUnsignedTransaction } from './format/transaction.js'
import { UNSIGNED_TRANSACTION_SCHEMA } from './schemas.js'

const ZERO_ADDRESS = new Uint8Array(20)

const ERRORS = {
  data: 'contract creation without any data provided',
  blobs: 'need at least 1 blob for a blob transaction',
  blobTarget: 'missing "to" in blob transaction',
  authorizationTarget: 'authorizationList provided for contract creation, but "to" field is missing',
  sidecar: '"blobs" is not supported for this RPC method: send blobVersionedHashes',
} as const

const TYPE_NOT_SUPPORTED = 'transaction type not supported'

/** Errors of `eth_estimateGas` that are not listed separately and do not concern members that transactions lack. */
const ESTIMATE_ERRORS = [
  ...CALL_ERRORS.filter(
    ({ message }) =>
      !/^both gasPrice|^chainId|override|precompile|overridden|stateDiff|^maxFeePer|create/.test(message),
  ),
  serverError('failed with … gas: …'),
  serverError('gas required exceeds allowance (…)'),
]

const withoutBlobs: ValueType<CallObject> = {
  schema: callObject.schema,
  decode: (value, path) => {
    const { blobs } = decodeMembers(value, path)
    if (!isAbsent(blobs)) refuse(ERRORS.sidecar)
    return callObject.decode(value, path)
  },
}

export const fillTransaction = defineMethod({
  name: 'eth_fillTransaction',
  summary: 'The transaction with the members that it lacks, ready to be signed.',
  description:
    'Nonce and gas are those of the newest state, fees double the base fee and add the suggested tip, as in geth. A transaction with ' +
    '`gasPrice` is of type 0, or of type 1 with an access list; else of type 2 from London on, 3 with blobs, 4 with authorizations. ' +
    '`raw` is its encoding with a signature of zeros. Sidecars of blobs are not made.',
  cost: 'evm',
  classes: ['calls'],
  params: [required('transaction', withoutBlobs, 'the transaction; `data` and `input` are the same member')],
  result: {
    name: 'transaction',
    schema: {
      type: 'object',
      properties: { raw: data.schema, tx: UNSIGNED_TRANSACTION_SCHEMA },
      required: ['raw', 'tx'],
    },
  },
  errors: [
    ...Object.values(ERRORS).map(serverError),
    BOTH_FEE_KINDS,
    ...FEE_ERRORS,
    ...[FEES_BEFORE_LONDON, serverError(TYPE_NOT_SUPPORTED)].map((error) => ({
      ...error,
      when: 'the head is before the fork',
    })),
    serverError("chainId does not match node's (have=…, want=…)"),
    ...ESTIMATE_ERRORS.map((error) => ({ ...error, when: 'estimating the gas fails' })),
    STATE_UNAVAILABLE,
  ],
  handler: (context, object) => {
    const { chain, evm, limits, deadline } = context
    const head = findBlock(chain, requireStateBlock(chain, 'latest'))!
    const request = requestForChain(chain, object)
    const fees = fillFees(context, request, head)
    requireParts(request)
    const type = typeOf({ ...request, ...fees })
    if (type > chain.rulesOf(head).maxTransactionType) refuse(`${TYPE_NOT_SUPPORTED}: type ${type}`)
    const { nonce = context.state.nonce(request.from ?? ZERO_ADDRESS, head.header.number), gas, ...rest } = request
    // As in geth, the estimate uses the fees that were sent, not those that are filled in.
    const gasLimit = gas ?? evm.estimateGas(rest, head.header.number, limits, deadline)
    return formatFilled({ ...rest, ...fees, nonce, gasLimit, chainId: chain.chainId() })
  },
})

/** @throws RpcError for combinations of members that no transaction has, in geth's words */
function requireParts({ to, data: input, blobVersionedHashes, authorizationList }: CallRequest): void {
  if (blobVersionedHashes?.length === 0) refuse(ERRORS.blobs)
  if (to !== undefined) return
  if (blobVersionedHashes) refuse(ERRORS.blobTarget)
  if (!input || input.length === 0) refuse(ERRORS.data)
  if (authorizationList) refuse(ERRORS.authorizationTarget)
}

type Filled = CallRequest & { nonce: bigint; gasLimit: bigint; chainId: bigint }

function formatFilled(filled: Filled) {
  const { value = 0n, data: input = EMPTY_BYTES, from = ZERO_ADDRESS, overrides: _, gas: __, ...rest } = filled
  const type = typeOf(filled)
  const unsigned = {
    ...{ ...rest, type, from, value, input },
    chainId: type === 0 ? undefined : filled.chainId,
    accessList: type === 0 ? undefined : (filled.accessList ?? []),
    ...{ v: 0n, r: 0n, s: 0n },
  }
  const transaction: Transaction = { ...unsigned, hash: transactionHash(unsigned) }
  return { raw: formatData(encodeTransaction(transaction)), tx: formatUnsignedTransaction(transaction) }
}

function typeOf({ gasPrice, accessList, blobVersionedHashes, authorizationList }: CallRequest): TransactionType {
  if (gasPrice !== undefined) return accessList ? 1 : 0
  if (authorizationList) return 4
  return blobVersionedHashes ? 3 : 2
}

function serverError(message: string): ErrorDoc {
  return { code: SERVER_ERROR, message }
}

function refuse(reason: string): never {
  throw new RpcError(SERVER_ERROR, reason)
}
