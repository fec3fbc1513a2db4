import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { blobBaseFee, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import type { Rules } from '../../chain/eth/forks.js'
import { MAX_TRANSACTION_BLOBS, MAX_TRANSACTION_GAS } from '../../chain/eth/transactionLimits.js'
import type { Header } from '../../chain/eth/types.js'
import { CallFailed, CallRefused, type CallRule } from '../errors.js'
import { INIT_CODE_TOO_LARGE } from '../interpreter/failures.js'
import { maxInitCodeSize } from '../interpreter/rules.js'
import { intrinsicGas } from '../transition/intrinsicGas.js'
import type { CallRequest } from './callRequest.js'

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
  /** Wei per blob gas instead of that of the header. */
  blobBaseFee?: bigint
  /** A call without fee fields must pay the base fee, too. */
  isValidated?: boolean
}

/** What a call pays and may use. */
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
  requireOneFeeStyle(request)
  const gasPrice = effectivePrice(planned)
  requireBlobs(planned)
  const blobFee = blobPrice(planned)
  requireAuthorizations(planned)
  requireFunds(planned, balanceOf)
  const { gas: intrinsic, floor } = intrinsicGas(request, rules)
  if (gasLimit < intrinsic)
    refuse(planned, 'intrinsic gas', `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`)
  if (gasLimit < floor)
    refuse(planned, 'other', `insufficient gas for floor data gas cost: have ${gasLimit}, want ${floor}`)
  requireInitCodeSize(planned)
  const upfrontWei = gasLimit * gasPrice + blobGas(planned) * blobFee
  return { gasPrice, upfrontWei, freeBlobs: blobFeeCap(request) === 0n, intrinsic, floor }
}

/** From Amsterdam on the gas limit may be above that of EIP-7825, but what is due before execution may not (EIP-8037).
 *  @throws CallRefused */
export function requireTransactionGas(gasLimit: bigint, { intrinsic, floor }: CallTerms, rules: Rules): void {
  const least = intrinsic > floor ? intrinsic : floor
  if (!rules.has('amsterdam') || least <= MAX_TRANSACTION_GAS) return
  throw new CallRefused('other', `intrinsic gas too high: have ${least}, at most ${MAX_TRANSACTION_GAS}`, gasLimit)
}

function refuse({ gasLimit }: PlannedCall, rule: CallRule, reason: string): never {
  throw new CallRefused(rule, reason, gasLimit)
}

const senderOf = ({ request: { from = ZERO_ADDRESS } }: PlannedCall) => formatChecksumAddress(from)

/** @throws CallFailed if both gasPrice and EIP-1559 fees are given. */
export function requireOneFeeStyle({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: CallRequest): void {
  if (gasPrice !== undefined && (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined)) {
    throw new CallFailed('both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified')
  }
}

/** The most the call offers per gas, in wei. EIP-1559 fees are ignored before London. */
export function feeCapOf({ gasPrice, maxFeePerGas }: CallRequest, { baseFeePerGas }: Header): bigint {
  return gasPrice ?? (baseFeePerGas === undefined ? 0n : (maxFeePerGas ?? 0n))
}

/** The most the call offers for its blobs, in wei. */
export function blobCost(planned: Omit<PlannedCall, 'gasLimit'>): bigint {
  return blobGas(planned) * (blobFeeCap(planned.request) ?? 0n)
}

/** Effective gas price: 0 without fee fields, otherwise as for a transaction (EIP-1559). */
function effectivePrice(planned: PlannedCall): bigint {
  const { request, header } = planned
  const { baseFeePerGas: baseFee } = header
  const cap = feeCapOf(request, header)
  if (baseFee === undefined) return cap
  const tip = request.gasPrice ?? request.maxPriorityFeePerGas ?? 0n
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
  return tip + baseFee < cap ? tip + baseFee : cap
}

/** EIP-4844; EIP-7594 for the blob limit per transaction. */
function requireBlobs(planned: PlannedCall): void {
  const { blobVersionedHashes: hashes, to } = planned.request
  if (hashes === undefined) return
  if (to === undefined) refuse(planned, 'other', 'blob transaction of type create')
  if (hashes.length === 0) refuse(planned, 'other', 'blob transaction missing blob hashes')
  if (planned.rules.has('osaka') && hashes.length > MAX_TRANSACTION_BLOBS)
    refuse(planned, 'other', 'blob transaction has too many blobs')
  const wrong = hashes.findIndex((hash) => hash[0] !== BLOB_HASH_VERSION)
  if (wrong >= 0) refuse(planned, 'other', `blob ${wrong} has invalid hash version`)
}

/** The most per blob gas; undefined for a call without blobs. */
function blobFeeCap({ maxFeePerBlobGas, blobVersionedHashes }: CallRequest): bigint | undefined {
  return maxFeePerBlobGas ?? (blobVersionedHashes === undefined ? undefined : 0n)
}

function blobGas({ request: { blobVersionedHashes }, rules }: Omit<PlannedCall, 'gasLimit'>): bigint {
  if (blobVersionedHashes === undefined || !rules.has('cancun')) return 0n
  return BigInt(blobVersionedHashes.length) * GAS_PER_BLOB
}

/** Wei per blob gas. */
function blobPrice(planned: PlannedCall): bigint {
  const { request, header, rules } = planned
  const cap = blobFeeCap(request) ?? 0n
  if ((cap === 0n && !planned.isValidated) || blobGas(planned) === 0n) return 0n
  const ofHeader = header.excessBlobGas === undefined ? 0n : blobBaseFee(header.excessBlobGas, rules)
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
  const { authorizationList, to } = planned.request
  if (authorizationList === undefined) return
  if (to === undefined)
    refuse(planned, 'other', `EIP-7702 transaction cannot be used to create contract (sender ${senderOf(planned)})`)
  if (authorizationList.length === 0)
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
  const most = maxInitCodeSize(planned.rules)
  if (data.length > most)
    refuse(planned, 'init code size', `${INIT_CODE_TOO_LARGE}: code size ${data.length} limit ${most}`)
}
