import type { Rules } from './forks/rules.js'
import type { Header } from './types.js'

const INITIAL_BASE_FEE = 1_000_000_000n // EIP-1559, in wei
const ELASTICITY = 2n // EIP-1559
const MAX_CHANGE_DENOMINATOR = 8n // EIP-1559

/** Gas of one blob (EIP-4844). */
export const GAS_PER_BLOB = 131_072n
const MIN_BLOB_BASE_FEE = 1n // EIP-4844, in wei
const MAX_UINT256 = 2n ** 256n - 1n
// e^177 < 2^256 < e^178. A genesis may contain any excess, and the series takes as many steps as the exponent.
const MAX_EXPONENT = 177n
const BLOB_BASE_COST = 8192n // EIP-7918, in gas

/** Base fee in wei of the block after `parent` (EIP-1559): 1 gwei when the parent has none. */
export function nextBaseFee(parent: Header): bigint {
  const { baseFeePerGas: baseFee, gasUsed, gasLimit } = parent
  if (baseFee === undefined) return INITIAL_BASE_FEE
  return adjustBaseFee({ baseFee, gasUsed, target: gasLimit / ELASTICITY, denominator: MAX_CHANGE_DENOMINATOR })
}

/** What a block's successor pays, by EIP-1559: its base fee in wei, its gas and their target. */
interface BaseFeeStep {
  readonly baseFee: bigint
  readonly gasUsed: bigint
  readonly target: bigint
  /** A block without gas lowers the fee by this fraction of it. */
  readonly denominator: bigint
}

/** Returns the base fee in wei after a block that paid `baseFee` (EIP-1559). */
export function adjustBaseFee({ baseFee, gasUsed, target, denominator }: BaseFeeStep): bigint {
  if (gasUsed === target || target === 0n) return baseFee
  if (gasUsed > target) {
    const rise = (baseFee * (gasUsed - target)) / target / denominator
    return baseFee + (rise > 1n ? rise : 1n)
  }
  return baseFee - (baseFee * (target - gasUsed)) / target / denominator
}

/** Price of a unit of blob gas in wei (EIP-4844, get_base_fee_per_blob_gas), at most 2^256 - 1. @throws RangeError
 *  before Cancun. */
export function blobBaseFeeOf(excessBlobGas: bigint, rules: Rules): bigint {
  if (!rules.blobs) throw new RangeError(`no blob gas before Cancun, the fork is ${rules.fork}`)
  if (excessBlobGas / rules.blobs.baseFeeUpdateFraction > MAX_EXPONENT) return MAX_UINT256
  const { baseFeeUpdateFraction, minBaseFee = MIN_BLOB_BASE_FEE } = rules.blobs
  const fee = fakeExponential(minBaseFee, excessBlobGas, baseFeeUpdateFraction)
  return fee < MAX_UINT256 ? fee : MAX_UINT256
}

/** Excess blob gas of the block after `parent`, by the rules of that block (EIP-4844, EIP-7691; from Osaka on
 *  EIP-7918). Zero when the parent has no blob gas. @throws RangeError before Cancun. */
export function nextExcessBlobGas(parent: Header, rules: Rules): bigint {
  if (!rules.blobs) throw new RangeError(`no blob gas before Cancun, the fork is ${rules.fork}`)
  const excess = parent.excessBlobGas ?? 0n
  const used = parent.blobGasUsed ?? 0n
  const target = BigInt(rules.blobs.target) * GAS_PER_BLOB
  if (excess + used < target) return 0n
  if (rules.eip7918 && BLOB_BASE_COST * (parent.baseFeePerGas ?? 0n) > GAS_PER_BLOB * blobBaseFeeOf(excess, rules)) {
    const { target: blobs, max } = rules.blobs
    return max === 0 ? excess : excess + (used * BigInt(max - blobs)) / BigInt(max)
  }
  return excess + used - target
}

/** An approximation of factor * e^(numerator / denominator) in integers (EIP-4844, fake_exponential). */
function fakeExponential(factor: bigint, numerator: bigint, denominator: bigint): bigint {
  let output = 0n
  let term = factor * denominator
  for (let i = 1n; term > 0n; i++) {
    output += term
    term = (term * numerator) / (denominator * i)
  }
  return output / denominator
}
