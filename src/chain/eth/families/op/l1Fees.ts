import { fastLzLength } from './fastLz.js'
import type { L1Attributes } from './l1Attributes.js'

/** Gas of data on layer 1 (EIP-2028). */
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
/** Bytes of a signature, for which transactions were charged before Regolith. */
const SIGNATURE_BYTES = 68n

const MILLION = 1_000_000n

/** Linear estimate of the compressed size from the length by FastLZ, in millionths of a byte (Fjord). */
const INTERCEPT = -42_585_600n
const FASTLZ_FACTOR = 836_500n
const MIN_SIZE = 100n * MILLION

/** The fee of a transaction for its data on layer 1, and the gas that is shown for it. */
export interface L1Fee {
  readonly fee: bigint // wei
  readonly gasUsed: bigint
}

/** Computes the fee for the data of a transaction (specs/protocol: exec-engine.md of Bedrock, Ecotone and Fjord).
 *  `bytes` is its encoding (EIP-2718). */
export function l1FeeOf(
  bytes: Uint8Array,
  attributes: L1Attributes,
  { isRegolith, isFjord }: { isRegolith: boolean; isFjord: boolean },
): L1Fee {
  const { baseFee, overhead = 0n, scalar = 0n, blobBaseFee, baseFeeScalar = 0n, blobBaseFeeScalar = 0n } = attributes
  if (blobBaseFee === undefined) {
    const gasUsed = dataGas(bytes) + overhead + (isRegolith ? 0n : SIGNATURE_BYTES * BYTE_GAS)
    return { fee: (gasUsed * baseFee * scalar) / MILLION, gasUsed }
  }
  const price = BYTE_GAS * baseFee * baseFeeScalar + blobBaseFee * blobBaseFeeScalar
  if (isFjord) {
    const size = scaledSize(bytes)
    return { fee: (size * price) / (MILLION * MILLION), gasUsed: (size * BYTE_GAS) / MILLION }
  }
  const gasUsed = dataGas(bytes)
  return { fee: (gasUsed * price) / (BYTE_GAS * MILLION), gasUsed }
}

/** Estimates the bytes that a transaction occupies on layer 1 after compression (Fjord). */
export function estimatedSize(bytes: Uint8Array): bigint {
  return scaledSize(bytes) / MILLION
}

function scaledSize(bytes: Uint8Array): bigint {
  const size = INTERCEPT + FASTLZ_FACTOR * BigInt(fastLzLength(bytes))
  return size < MIN_SIZE ? MIN_SIZE : size
}

function dataGas(bytes: Uint8Array): bigint {
  let zeros = 0
  for (const byte of bytes) if (byte === 0) zeros++
  return BigInt(zeros) * ZERO_BYTE_GAS + BigInt(bytes.length - zeros) * BYTE_GAS
}
