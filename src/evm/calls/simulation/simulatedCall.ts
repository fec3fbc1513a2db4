import { formatChecksumAddress } from '../../../chain/eth/checksumAddress.js'
import { transactionHash } from '../../../chain/eth/transaction.js'
import { MAX_NONCE } from '../../../chain/eth/transactionLimits.js'
import type { Transaction, TransactionType } from '../../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../../lib/bytes.js'
import { CallRefused, SimulationRefused } from '../../errors.js'
import type { TransactionTerms } from '../../transition/transaction.js'
import type { TransactionContext } from '../../transition/transactionContext.js'
import { feeCapOf, requireCallTerms, requireOneFeeStyle, requireTransactionGas, ZERO_ADDRESS } from '../callChecks.js'
import type { CallRequest } from '../callRequest.js'

/** A simulated block while its calls run. */
export interface SimulatedContext extends TransactionContext {
  isValidated: boolean
  /** Gas left in the block, and in the whole simulation. */
  blockGasLeft: bigint
  gasLeft: bigint
}

/** The transaction that a call of a simulated block becomes, and what it pays. Without a nonce it has the next one, without gas
 *  all that the block has left. @throws CallFailed, SimulationRefused in geth's words. */
export function prepareCall(
  context: SimulatedContext,
  request: CallRequest,
): { transaction: Transaction; terms: TransactionTerms } {
  const { journal, header, rules, environment } = context
  requireOneFeeStyle(request)
  const { from = ZERO_ADDRESS } = request
  const sender = journal.account(from)
  const nonce = request.nonce ?? sender.nonce
  const wanted = request.gas ?? context.blockGasLeft
  if (wanted > context.blockGasLeft) {
    const message = `block gas limit reached: remaining: ${context.blockGasLeft}, required: ${wanted}`
    throw new SimulationRefused('block gas limit', message)
  }
  const gasLimit = wanted < context.gasLeft ? wanted : context.gasLeft
  const { isValidated } = context
  const { blobBaseFee } = environment.block
  try {
    if (isValidated) requireNonce(nonce, sender.nonce, { from, gasLimit })
    const planned = { request, gasLimit, header, rules, blobBaseFee, isValidated }
    const terms = requireCallTerms(planned, (address) => journal.account(address).balance)
    requireTransactionGas(gasLimit, terms, rules)
    const isFree = terms.gasPrice === 0n && !isValidated
    return {
      transaction: transactionOf(request, { from, nonce, gasLimit, context }),
      terms: {
        intrinsic: terms.intrinsic,
        floor: terms.floor,
        price: terms.gasPrice,
        tip: isFree ? undefined : terms.gasPrice - (header.baseFeePerGas ?? 0n),
        blobPrice: terms.freeBlobs && !isValidated ? 0n : blobBaseFee,
      },
    }
  } catch (error) {
    if (error instanceof CallRefused) throw new SimulationRefused(error.rule, error.message)
    throw error
  }
}

function requireNonce(
  nonce: bigint,
  expected: bigint,
  { from, gasLimit }: { from: Uint8Array; gasLimit: bigint },
): void {
  const address = formatChecksumAddress(from)
  const difference = `address ${address}, tx: ${nonce} state: ${expected}`
  if (nonce > expected) throw new CallRefused('nonce too high', `nonce too high: ${difference}`, gasLimit)
  if (nonce < expected) throw new CallRefused('nonce too low', `nonce too low: ${difference}`, gasLimit)
  if (nonce < MAX_NONCE) return
  throw new CallRefused('other', `nonce has max value: address ${address}, nonce: ${nonce}`, gasLimit)
}

/** The unsigned transaction: its signature is zero. The type follows from the members of the call, as in geth. */
function transactionOf(
  request: CallRequest,
  {
    from,
    nonce,
    gasLimit,
    context,
  }: { from: Uint8Array; nonce: bigint; gasLimit: bigint; context: TransactionContext },
): Transaction {
  const { to, value = 0n, data: input = EMPTY_BYTES, accessList = [], maxFeePerBlobGas = 0n } = request
  const { header, chainId } = context
  const type = typeOf(request, header.baseFeePerGas === undefined)
  const common = { type, nonce, gasLimit, to, value, input, v: 0n, r: 0n, s: 0n }
  const fees = { maxFeePerGas: request.maxFeePerGas ?? 0n, maxPriorityFeePerGas: request.maxPriorityFeePerGas ?? 0n }
  const unsigned =
    type === 0
      ? { ...common, gasPrice: feeCapOf(request, header) }
      : {
          ...common,
          ...fees,
          chainId,
          accessList,
          ...(type === 3 ? { maxFeePerBlobGas, blobVersionedHashes: request.blobVersionedHashes } : {}),
          ...(type === 4 ? { authorizationList: request.authorizationList } : {}),
        }
  return { ...unsigned, from, hash: transactionHash(unsigned) }
}

function typeOf(request: CallRequest, isBeforeLondon: boolean): TransactionType {
  if (request.gasPrice !== undefined || isBeforeLondon) return 0
  if (request.authorizationList !== undefined) return 4
  return request.blobVersionedHashes === undefined ? 2 : 3
}
