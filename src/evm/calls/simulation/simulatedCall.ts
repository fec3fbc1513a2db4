import { formatChecksumAddress } from '../../../chain/eth/checksumAddress.js'
import { GAS_PER_BLOB } from '../../../chain/eth/fees.js'
import { transactionHash } from '../../../chain/eth/transaction.js'
import { MAX_NONCE } from '../../../chain/eth/transactionLimits.js'
import type { Transaction, TransactionType } from '../../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../../lib/bytes.js'
import { CallRefused, SimulationRefused } from '../../errors.js'
import type { TransactionTerms } from '../../transition/transaction.js'
import type { TransactionContext } from '../../transition/transactionContext.js'
import {
  feeCapOf,
  type PlannedCall,
  requireCallMembers,
  requireCallTerms,
  requireTransactionGas,
  ZERO_ADDRESS,
} from '../callChecks.js'
import type { CallRequest } from '../callRequest.js'

/** A simulated block while its calls run. */
export interface SimulatedContext extends TransactionContext {
  isValidated: boolean
  /** Gas left in the block, and in the whole simulation. */
  blockGasLeft: bigint
  gasLeft: bigint
}

/** A call of a simulated block, ready to run. */
export interface PreparedCall {
  /** The transaction that the block lists. */
  transaction: Transaction
  /** The transaction that runs: with all lists of the call, which the listed type may omit. */
  executed: Transaction
  terms: TransactionTerms
  /** True if the call requests more gas than the simulation has left. */
  isGasCapped: boolean
}

/** Converts a call of a simulated block to a transaction with its fees. A missing nonce defaults to the next one,
 *  missing gas to all that the block has left. @throws CallFailed, SimulationRefused in geth's words. */
export function prepareCall(context: SimulatedContext, request: CallRequest): PreparedCall {
  const { journal, header, rules, environment, chainId } = context
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
  requireCallMembers(request, context)
  try {
    if (isValidated) requireNonce(nonce, sender.nonce, { from, gasLimit })
    const planned = { request, gasLimit, header, rules, chainId, blobBaseFee, isValidated }
    const terms = requireCallTerms(planned, (address) => journal.account(address).balance)
    requireTransactionGas(gasLimit, terms, rules)
    const isFree = terms.gasPrice === 0n && !isValidated
    const transaction = transactionOf(request, { from, nonce, gasLimit, context })
    const { accessList, authorizationList, blobVersionedHashes } = request
    const { family } = context
    return {
      transaction,
      isGasCapped: gasLimit < wanted,
      executed: { ...transaction, accessList, authorizationList, blobVersionedHashes },
      terms: {
        intrinsic: terms.intrinsic,
        floor: terms.floor,
        price: terms.gasPrice,
        tip: isFree ? 0n : terms.gasPrice - (rules.eip1559 ? header.baseFeePerGas! : 0n),
        blobPrice: blobPrice(planned, terms.gasPrice, sender.balance),
        fees: isFree ? undefined : family?.rules?.feesOf(transaction, family.state),
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
  // EIP-2681
  const reason = `nonce has max value: address ${address}, nonce: ${MAX_NONCE}`
  throw new CallRefused('nonce max', reason, gasLimit)
}

/** Wei per blob gas that the call pays. As in geth, a call pays for blobs even if it offers nothing. In geth a sender
 *  that cannot pay gets a negative balance; here its blobs are free. */
function blobPrice(planned: PlannedCall & { blobBaseFee: bigint }, gasPrice: bigint, balance: bigint): bigint {
  const { request, gasLimit, blobBaseFee, isValidated } = planned
  const blobs = BigInt(request.blobVersionedHashes?.length ?? 0)
  const wei = gasLimit * gasPrice + blobs * GAS_PER_BLOB * blobBaseFee
  return isValidated || balance >= wei + (request.value ?? 0n) ? blobBaseFee : 0n
}

/** Builds the unsigned transaction, with a zero signature. The type follows from the members of the call, as in
 *  geth. */
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
  const gasPrice = feeCapOf(request, header)
  const unsigned =
    type < 2
      ? { ...common, gasPrice, ...(type === 1 ? { chainId, accessList } : {}) }
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
  if (request.gasPrice !== undefined || isBeforeLondon) return request.accessList === undefined ? 0 : 1
  if (request.authorizationList !== undefined) return 4
  return request.blobVersionedHashes === undefined ? 2 : 3
}
