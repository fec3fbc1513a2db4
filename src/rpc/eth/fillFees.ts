import { blobBaseFeeOf } from '../../chain/eth/fees.js'
import type { CallRequest } from '../../evm/calls/callRequest.js'
import { formatQuantity } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'
import { suggestTip } from './suggestTip.js'

const MAX_UINT256 = 2n ** 256n - 1n

const ERRORS = {
  authorizationPrice: 'both gasPrice and authorizationList specified',
  zeroPrice: 'gasPrice must be non-zero after london fork',
  zeroFee: 'maxFeePerGas must be non-zero',
  zeroBlobFee: 'maxFeePerBlobGas, if specified, must be non-zero',
} as const

/** Fees of both kinds, which other calls refuse too. */
export const BOTH_FEE_KINDS: ErrorDoc = {
  code: SERVER_ERROR,
  message: 'both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified',
}

/** Other invalid fees. */
export const FEE_ERRORS: readonly ErrorDoc[] = [
  ...Object.values(ERRORS),
  'maxFeePerGas (…) < maxPriorityFeePerGas (…)',
].map((message) => ({ code: SERVER_ERROR, message }))

/** EIP-1559 fees at a block before London. */
export const FEES_BEFORE_LONDON: ErrorDoc = {
  code: SERVER_ERROR,
  message: 'maxFeePerGas and maxPriorityFeePerGas are not valid before London is active',
}

/** Fees of a transaction, in wei. */
interface Fees {
  gasPrice?: bigint
  maxFeePerGas?: bigint
  maxPriorityFeePerGas?: bigint
  maxFeePerBlobGas?: bigint
}

/** Fills in the fees of a call at a block as geth's `setFeeDefaults` does: double the base fees, and the suggested tip.
 *  @throws RpcError in geth's words for invalid fees */
export function fillFees(context: RpcContext, request: CallRequest, block: StoredBlock): Fees {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, blobVersionedHashes, authorizationList } = request
  const { header } = block
  const { baseFeePerGas: baseFee } = header
  if (request.maxFeePerBlobGas === 0n) refuse(ERRORS.zeroBlobFee)
  const maxFeePerBlobGas = request.maxFeePerBlobGas ?? (blobVersionedHashes && doubleBlobFee(context, block))
  const hasFee = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
  if (gasPrice !== undefined && hasFee) refuse(BOTH_FEE_KINDS.message)
  if (gasPrice !== undefined && authorizationList) refuse(ERRORS.authorizationPrice)
  if (gasPrice === 0n && baseFee !== undefined) refuse(ERRORS.zeroPrice)
  if (gasPrice !== undefined) return { gasPrice, maxFeePerBlobGas }
  if (maxPriorityFeePerGas !== undefined && maxFeePerGas === 0n) refuse(ERRORS.zeroFee)
  const isWhole = maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined
  if (baseFee === undefined && hasFee && !isWhole) refuse(FEES_BEFORE_LONDON.message)
  if (baseFee === undefined && !isWhole) return { gasPrice: suggestTip(context.chain), maxFeePerBlobGas }
  const tip = maxPriorityFeePerGas ?? suggestTip(context.chain)
  const fee = maxFeePerGas ?? tip + 2n * (baseFee ?? 0n)
  if (fee < tip) refuse(`maxFeePerGas (${formatQuantity(fee)}) < maxPriorityFeePerGas (${formatQuantity(tip)})`)
  if (fee > MAX_UINT256) refuse(`maxFeePerGas higher than 2^256-1: ${fee}`)
  return { maxFeePerGas: fee, maxPriorityFeePerGas: tip, maxFeePerBlobGas }
}

/** Whether a call has any fee: one without a fee pays none. */
export function hasFees({ gasPrice, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas }: CallRequest): boolean {
  return [gasPrice, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas].some((fee) => fee !== undefined)
}

function doubleBlobFee({ chain }: RpcContext, block: StoredBlock): bigint | undefined {
  const { excessBlobGas } = block.header
  return excessBlobGas === undefined ? undefined : 2n * blobBaseFeeOf(excessBlobGas, chain.rulesOf(block))
}

function refuse(reason: string): never {
  throw new RpcError(SERVER_ERROR, reason)
}
