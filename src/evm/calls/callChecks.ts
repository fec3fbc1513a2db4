import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { Rules } from '../../chain/eth/forks/rules.js'
import { MAX_TRANSACTION_BLOBS, MAX_TRANSACTION_GAS } from '../../chain/eth/transactionLimits.js'
import type { Header } from '../../chain/eth/types.js'
import { CallFailed, CallRefused, type CallRule } from '../errors.js'
import type { Code } from '../interpreter/code.js'
import { INIT_CODE_TOO_LARGE } from '../interpreter/failures.js'
import { intrinsicGas } from '../transition/intrinsicGas.js'
import { type CallRequest, requireMembersTogether } from './callRequest.js'

/** The default sender, 20 bytes. */
export const ZERO_ADDRESS = new Uint8Array(20)

const BLOB_HASH_VERSION = 1 // EIP-4844
const MAX_UINT256 = 2n ** 256n - 1n

/** A call before it runs: the request, its gas limit, and its block. */
export interface PlannedCall {
  request: CallRequest
  gasLimit: bigint
  header: Header
  rules: Rules
  chainId: bigint
  /** Wei per blob gas; overrides that of the header. */
  blobBaseFee?: bigint
  /** Requires the base fee even from a call without fee fields. */
  isValidated?: boolean
}

/** Prices and limits of a call. */
export interface CallTerms {
  /** Wei per gas. Without fee fields it is 0, and BASEFEE is 0 too. */
  gasPrice: bigint
  /** Wei that the sender pays up front, for gas and blobs. */
  upfrontWei: bigint
  /** True without a blob fee: BLOBBASEFEE is 0. */
  freeBlobs: boolean
  /** Gas due before the first instruction, and the floor (EIP-7623). */
  intrinsic: bigint
  floor: bigint
}

/** Checks that the call could be a transaction, that the sender can pay, and that the gas covers the intrinsic gas, and
 *  returns its terms. The checks are those of geth's `stateTransition.preCheck`, in its order. `balanceOf` returns wei.
 *  @throws CallFailed, CallRefused in geth's words. */
export function requireCallTerms(planned: PlannedCall, balanceOf: (address: Uint8Array) => bigint): CallTerms {
  const { request, gasLimit, rules } = planned
  requireCallMembers(request, planned)
  const gasPrice = effectivePrice(planned)
  requireTypeOfFork(planned)
  requireBlobs(planned)
  const blobFee = blobPrice(planned)
  requireAuthorizations(planned)
  requireInitCodeSize(planned)
  requireFunds(planned, balanceOf)
  const { gas: intrinsic, floor } = intrinsicGas(request, rules)
  if (gasLimit < intrinsic)
    refuse(planned, 'intrinsic gas', `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`)
  if (gasLimit < floor)
    refuse(planned, 'other', `insufficient gas for floor data gas cost: have ${gasLimit}, want ${floor}`)
  const upfrontWei = gasLimit * gasPrice + blobGas(planned) * blobFee
  return { gasPrice, upfrontWei, freeBlobs: blobFeeCap(request) === 0n, intrinsic, floor }
}

/** From Amsterdam on, the gas limit may exceed that of EIP-7825, but the gas due before execution may not (EIP-8037).
 *  @throws CallRefused */
export function requireTransactionGas(gasLimit: bigint, { intrinsic, floor }: CallTerms, rules: Rules): void {
  const least = intrinsic > floor ? intrinsic : floor
  if (!rules.eip8037Full || least <= MAX_TRANSACTION_GAS) return
  throw new CallRefused('other', `intrinsic gas too high: have ${least}, at most ${MAX_TRANSACTION_GAS}`, gasLimit)
}

/** Checks the additional rules of signed transactions: the gas limits (EIP-7825), and a sender without code that is not
 *  a delegation (EIP-3607, EIP-7702). @throws CallRefused in geth's words */
export function requireSigned(planned: PlannedCall, code: Code): void {
  const { gasLimit, header, rules } = planned
  if (rules.eip7825 && gasLimit > MAX_TRANSACTION_GAS) {
    refuse(planned, 'other', `transaction gas limit too high (cap: ${MAX_TRANSACTION_GAS}, tx: ${gasLimit})`)
  }
  if (gasLimit > header.gasLimit) refuse(planned, 'other', 'gas limit reached')
  if (code.length > 0 && !(rules.delegations && code.delegation !== undefined)) {
    refuse(planned, 'other', `sender not an eoa: address ${senderOf(planned)}, len(code): ${code.length}`)
  }
}

function refuse({ gasLimit }: PlannedCall, rule: CallRule, reason: string): never {
  throw new CallRefused(rule, reason, gasLimit)
}

const senderOf = ({ request: { from = ZERO_ADDRESS } }: PlannedCall) => formatChecksumAddress(from)

/** Checks the members of a call with each other, with its fork and its chain, in the order of geth's `CallDefaults`.
 *  @throws CallFailed in geth's words */
export function requireCallMembers(
  request: CallRequest,
  { header, chainId: served }: { header: Header; chainId: bigint },
): void {
  requireMembersTogether(request)
  const { maxFeePerGas, maxPriorityFeePerGas, chainId } = request
  const hasFeeCap = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
  if (chainId !== undefined && chainId !== served) {
    throw new CallFailed(`chainId does not match node's (have=${chainId}, want=${served})`)
  }
  // A base fee override before London allows them.
  if (hasFeeCap && header.baseFeePerGas === undefined) {
    throw new CallFailed('maxFeePerGas and maxPriorityFeePerGas are not valid before London is active')
  }
}

/** Access lists need Berlin, blobs Cancun, authorizations Prague. */
function requireTypeOfFork(planned: PlannedCall): void {
  const { request, rules } = planned
  const refuseType = (type: string) =>
    refuse(planned, 'other', `transaction type not supported: ${type} tx (sender ${senderOf(planned)})`)
  if (request.accessList !== undefined && rules.maxTransactionType < 1) refuseType('access list')
  const hasBlobs = request.maxFeePerBlobGas !== undefined || request.blobVersionedHashes !== undefined
  if (hasBlobs && !rules.eip4844) refuseType('blob')
  if (request.authorizationList !== undefined && !rules.delegations) refuseType('setcode')
}

/** The most the call offers per gas, in wei. EIP-1559 fees are ignored before London. */
export function feeCapOf({ gasPrice, maxFeePerGas }: CallRequest, { baseFeePerGas }: Header): bigint {
  return gasPrice ?? (baseFeePerGas === undefined ? 0n : (maxFeePerGas ?? 0n))
}

/** The most the call offers for its blobs, in wei. */
export function blobCost(planned: Pick<PlannedCall, 'request' | 'rules'>): bigint {
  return blobGas(planned) * (blobFeeCap(planned.request) ?? 0n)
}

/** Effective gas price: 0 without fee fields, otherwise as for a transaction (EIP-1559). */
function effectivePrice(planned: PlannedCall): bigint {
  const { request, header, rules } = planned
  const { baseFeePerGas: baseFee } = header
  const cap = feeCapOf(request, header)
  if (baseFee === undefined) return cap
  const tip = request.gasPrice ?? request.maxPriorityFeePerGas ?? 0n
  const price = tip + baseFee < cap ? tip + baseFee : cap
  // An overridden base fee before London is not checked.
  if (!rules.eip1559) return price
  if (cap === 0n && tip === 0n && !planned.isValidated) return 0n
  if (cap < tip) {
    refuse(
      planned,
      'priority fee',
      'max priority fee per gas higher than max fee per gas: ' +
        `address ${senderOf(planned)}, maxPriorityFeePerGas: ${tip}, maxFeePerGas: ${cap}`,
    )
  }
  if (cap < baseFee) {
    refuse(
      planned,
      'fee cap',
      `max fee per gas less than block base fee: address ${senderOf(planned)}, maxFeePerGas: ${cap}, baseFee: ${baseFee}`,
    )
  }
  return price
}

/** EIP-4844; EIP-7594 for the blob limit per transaction. */
function requireBlobs(planned: PlannedCall): void {
  const { blobVersionedHashes: hashes } = planned.request
  if (hashes === undefined) return
  if (hashes.length === 0) refuse(planned, 'other', 'blob transaction missing blob hashes')
  if (planned.rules.eip7594 && hashes.length > MAX_TRANSACTION_BLOBS)
    refuse(planned, 'other', 'blob transaction has too many blobs')
  const wrong = hashes.findIndex((hash) => hash[0] !== BLOB_HASH_VERSION)
  if (wrong >= 0) refuse(planned, 'other', `blob ${wrong} has invalid hash version`)
}

/** The most per blob gas; undefined for a call without blobs. */
function blobFeeCap({ maxFeePerBlobGas, blobVersionedHashes }: CallRequest): bigint | undefined {
  return maxFeePerBlobGas ?? (blobVersionedHashes === undefined ? undefined : 0n)
}

function blobGas({ request: { blobVersionedHashes }, rules }: Pick<PlannedCall, 'request' | 'rules'>): bigint {
  if (blobVersionedHashes === undefined || !rules.eip4844) return 0n
  return BigInt(blobVersionedHashes.length) * GAS_PER_BLOB
}

/** Wei per blob gas. */
function blobPrice(planned: PlannedCall): bigint {
  const { request, header, rules } = planned
  const cap = blobFeeCap(request) ?? 0n
  if ((cap === 0n && !planned.isValidated) || blobGas(planned) === 0n) return 0n
  const ofHeader = header.excessBlobGas === undefined ? 0n : blobBaseFeeOf(header.excessBlobGas, rules)
  const fee = planned.blobBaseFee ?? ofHeader
  if (cap < fee) {
    refuse(
      planned,
      'other',
      'max fee per blob gas less than block blob gas fee: ' +
        `address ${senderOf(planned)} blobGasFeeCap: ${cap}, blobBaseFee: ${fee}`,
    )
  }
  return fee
}

/** EIP-7702. */
function requireAuthorizations(planned: PlannedCall): void {
  const { authorizationList } = planned.request
  if (authorizationList?.length === 0)
    refuse(planned, 'other', `EIP-7702 transaction with empty auth list (sender ${senderOf(planned)})`)
}

function requireFunds(planned: PlannedCall, balanceOf: (address: Uint8Array) => bigint): void {
  const { request, gasLimit, header } = planned
  const needed = feeCapOf(request, header) * gasLimit + (request.value ?? 0n) + blobCost(planned)
  if (needed === 0n) return
  const from = request.from ?? ZERO_ADDRESS
  const words = () => `insufficient funds for gas * price + value: address ${formatChecksumAddress(from)}`
  if (needed > MAX_UINT256) refuse(planned, 'funds', `${words()} required balance exceeds 256 bits`)
  const balance = balanceOf(from)
  if (balance < needed) refuse(planned, 'funds', `${words()} have ${balance} want ${needed}`)
}

/** EIP-3860. */
function requireInitCodeSize(planned: PlannedCall): void {
  const { to, data } = planned.request
  if (to !== undefined || data === undefined) return
  const most = planned.rules.maxInitCodeSize
  if (data.length > most)
    refuse(planned, 'init code size', `${INIT_CODE_TOO_LARGE}: code size ${data.length} limit ${most}`)
}
