import { bytesToBigInt } from '../../../lib/bytes.js'

/** A curve over Fp and its twist over Fp2, as a precompile encodes their points: y^2 = x^3 + b. */
export interface EncodedCurve {
  readonly modulus: bigint
  /** Bytes of a coordinate, or of one half of it on the twist. */
  readonly elementBytes: number
  /** Leading bytes of an element that must be zero. */
  readonly padding: number
  readonly b: bigint
  readonly twistB: Pair
  /** The first element of a coordinate on the twist is the factor of i. */
  readonly imaginaryFirst: boolean
  /** geth's message for a point that is not on the curve. */
  readonly notOnCurve: string
}

/** An element of Fp2: real + imaginary * i, where i^2 = -1. */
type Pair = readonly [real: bigint, imaginary: bigint]

const BN254_MODULUS = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n
const BLS_MODULUS = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn

/** EIP-196 and EIP-197; the twist's b is 3 / (9 + i). */
export const BN254: EncodedCurve = {
  modulus: BN254_MODULUS,
  elementBytes: 32,
  padding: 0,
  b: 3n,
  twistB: [
    19485874751759354771024239261021720505790618469301721065564631296452457478373n,
    266929791119991161246907387137283842545076965332900288569378510910307636690n,
  ],
  imaginaryFirst: true,
  notOnCurve: 'point is not on curve',
}

/** EIP-2537. */
export const BLS12_381: EncodedCurve = {
  modulus: BLS_MODULUS,
  elementBytes: 64,
  padding: 16,
  b: 4n,
  twistB: [4n, 4n],
  imaginaryFirst: false,
  notOnCurve: 'invalid point: not on curve',
}

/** Returns why the bytes are not field elements, in geth's words; undefined if they are. */
export function elementFailure(
  { modulus, elementBytes, padding }: EncodedCurve,
  input: Uint8Array,
): string | undefined {
  for (let at = 0; at < input.length; at += elementBytes) {
    const element = input.subarray(at, at + elementBytes)
    if (element.subarray(0, padding).some((byte) => byte !== 0)) return 'invalid field element top bytes'
    if (bytesToBigInt(element) >= modulus) return 'invalid fp.Element encoding'
  }
  return undefined
}

/** Returns why the bytes are not a point on the curve; undefined if they are. The subgroup is not checked. */
export function pointFailure(curve: EncodedCurve, input: Uint8Array): string | undefined {
  const failure = elementFailure(curve, input)
  if (failure !== undefined) return failure
  const { modulus, b, elementBytes } = curve
  const [x, y] = [0, 1].map((i) => bytesToBigInt(input.subarray(i * elementBytes, (i + 1) * elementBytes)))
  if (x === 0n && y === 0n) return undefined // infinity
  return (y * y - x * x * x - b) % modulus === 0n ? undefined : curve.notOnCurve
}

/** Like `pointFailure`, for a point on the twist. */
export function twistPointFailure(curve: EncodedCurve, input: Uint8Array): string | undefined {
  const failure = elementFailure(curve, input)
  if (failure !== undefined) return failure
  const { modulus, twistB, elementBytes, imaginaryFirst } = curve
  const pairAt = (at: number): Pair => {
    const first = bytesToBigInt(input.subarray(at, at + elementBytes))
    const second = bytesToBigInt(input.subarray(at + elementBytes, at + 2 * elementBytes))
    return imaginaryFirst ? [second, first] : [first, second]
  }
  const [x, y] = [pairAt(0), pairAt(2 * elementBytes)]
  if ([...x, ...y].every((part) => part === 0n)) return undefined // infinity
  const times = ([a, b]: Pair, [c, d]: Pair): Pair => [(a * c - b * d) % modulus, (a * d + b * c) % modulus]
  const [left, right] = [times(y, y), times(times(x, x), x)]
  const isOn = [0, 1].every((i) => (left[i] - right[i] - twistB[i]) % modulus === 0n)
  return isOn ? undefined : curve.notOnCurve
}
