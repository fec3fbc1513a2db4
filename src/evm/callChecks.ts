import { blobBaseFee, GAS_PER_BLOB } from '../chain/eth/fees.js'
import type { Rules } from '../chain/eth/forks.js'
import type { Header } from '../chain/eth/types.js'
import { formatData } from '../lib/hex.js'
import { CallFailed } from './errors.js'
import { intrinsicGas } from './intrinsicGas.js'
import type { CallRequest } from './service.js'

/** Who calls when the request does not say: 20 bytes. */
export const ZERO_ADDRESS = new Uint8Array(20)

/** A call before it runs: the request, the gas limit that it gets, and the block that it is on top of. */
export interface PlannedCall {
  request: CallRequest
  gasLimit: bigint
  header: Header
  rules: Rules
}

/** What a call pays and may use. */
export interface CallTerms {
  /** Wei for a gas: 0 without fee fields. */
  gasPrice: bigint
  /** Gas that is due before the first instruction, and the least in all. */
  intrinsic: bigint
  floor: bigint
}

/** The terms of a call that can begin: its fees fit together, the sender can pay for it, and the gas covers what is due at
 *  once. `balanceOf` gives wei. @throws CallFailed in geth's words when it cannot. */
export function requireCallTerms(planned: PlannedCall, balanceOf: (address: Uint8Array) => bigint): CallTerms {
  const { request, gasLimit, rules } = planned
  const gasPrice = effectivePrice(planned)
  requireFunds(planned, balanceOf)
  const { gas: intrinsic, floor } = intrinsicGas(request, rules)
  const least = intrinsic > floor ? intrinsic : floor
  if (gasLimit < least) throw new CallFailed(`intrinsic gas too low: have ${gasLimit}, want ${least}`)
  return { gasPrice, intrinsic, floor }
}

/** Gas price that the call pays per gas: 0 without fee fields; otherwise as a transaction's (EIP-1559). */
function effectivePrice({ request, header, gasLimit }: PlannedCall): bigint {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  if (gasPrice !== undefined && (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined)) {
    throw new CallFailed('both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified')
  }
  const baseFee = header.baseFeePerGas ?? 0n
  const cap = gasPrice ?? maxFeePerGas ?? 0n
  const tip = gasPrice ?? maxPriorityFeePerGas ?? 0n
  if (cap < tip) {
    throw new CallFailed(
      `max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: ${tip}, maxFeePerGas: ${cap}`,
    )
  }
  if (cap === 0n) return 0n
  if (cap < baseFee) {
    throw new CallFailed(
      `max fee per gas less than block base fee: maxFeePerGas: ${cap}, baseFee: ${baseFee} (supplied gas ${gasLimit})`,
    )
  }
  return tip + baseFee < cap ? tip + baseFee : cap
}

function requireFunds(
  { request, gasLimit, rules, header }: PlannedCall,
  balanceOf: (address: Uint8Array) => bigint,
): void {
  const maxFee = request.gasPrice ?? request.maxFeePerGas ?? 0n
  const blobs = BigInt(request.blobVersionedHashes?.length ?? 0)
  const blobCap = request.maxFeePerBlobGas ?? 0n
  if (blobs > 0n && blobCap > 0n && header.excessBlobGas !== undefined) {
    const blobFee = blobBaseFee(header.excessBlobGas, rules)
    if (blobCap < blobFee) {
      throw new CallFailed(
        `max fee per blob gas less than block blob gas fee: maxFeePerBlobGas: ${blobCap}, blobBaseFee: ${blobFee}`,
      )
    }
  }
  const needed = maxFee * gasLimit + (request.value ?? 0n) + blobs * GAS_PER_BLOB * blobCap
  if (needed === 0n) return
  const from = request.from ?? ZERO_ADDRESS
  const balance = balanceOf(from)
  if (balance < needed) {
    throw new CallFailed(
      `insufficient funds for gas * price + value: address ${formatData(from)} have ${balance} want ${needed}`,
    )
  }
}
