import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { getActivePrecompiles, NobleBLS, NobleBN254, type PrecompileFunc } from '@ethereumjs/evm'
import { sha256 } from 'ethereum-cryptography/sha256.js'
import type { Rules } from '../../../chain/eth/forks/rules.js'
import { bytesToBigInt, concatBytes, equalBytes } from '../../../lib/bytes.js'
import { G1_DISCOUNTS, G2_DISCOUNTS } from './blsDiscounts.js'
import { BLS12_381, BN254, elementFailure, pointFailure, twistPointFailure } from './pointFailures.js'
import { fitted, type Precompile } from './precompile.js'
import { createPrecompileTable, type Precompiles } from './precompileTable.js'

/** Verifies a KZG proof (EIP-4844): true if the commitment's polynomial has the value `y` at `z`. Arguments are
 *  0x-prefixed hex. @throws Error for malformed arguments. */
export type VerifyKzgProof = (commitment: string, z: string, y: string, proof: string) => boolean

/** Precompiles of a fork by address, up to 0x100; undefined for other addresses. `verifyKzgProof` is used from Cancun
 *  on. */
export function createPrecompiles(rules: Rules, verifyKzgProof: VerifyKzgProof): (Precompile | undefined)[] {
  return createPrecompileTable(rules, {
    bn254: bn254Precompiles,
    pointEvaluation: () => ({
      gas: () => 50_000,
      run: (input) => evaluatePoint(input, verifyKzgProof),
      failure: evaluationFailure,
    }),
    bls: blsPrecompiles,
    p256Verify: createP256Verify,
  })
}

/** EIP-196 and 197; `cheap`: prices of EIP-1108. */
function bn254Precompiles(cheap: boolean): Precompiles {
  const curve = new NobleBN254()
  const perPair = cheap ? 34_000 : 80_000
  return {
    6: {
      gas: () => (cheap ? 150 : 500),
      run: (input) => attempt(() => curve.add(fitted(input, 128))),
      failure: (input) => firstFailure(fitted(input, 128), 64, (point) => pointFailure(BN254, point)),
    },
    7: {
      gas: () => (cheap ? 6000 : 40_000),
      run: (input) => attempt(() => curve.mul(fitted(input, 96))),
      failure: (input) => pointFailure(BN254, fitted(input, 64)),
    },
    8: {
      gas: ({ length }) => (cheap ? 45_000 : 100_000) + perPair * Math.floor(length / 192),
      run: (input) => (input.length % 192 !== 0 ? undefined : attempt(() => curve.pairing(input.slice()))),
      failure: (input) => {
        if (input.length % 192 !== 0) return 'bad elliptic curve pairing size'
        return firstFailure(input, 192, (pair) => {
          const failure = pointFailure(BN254, pair.subarray(0, 64)) ?? twistPointFailure(BN254, pair.subarray(64))
          return failure ?? (attempt(() => curve.pairing(pair)) ? undefined : 'point is not in correct subgroup')
        })
      },
    },
  }
}

/** Returns the first failure among the input's items of `item` bytes. */
function firstFailure(
  input: Uint8Array,
  item: number,
  failureOf: (item: Uint8Array) => string | undefined,
): string | undefined {
  for (let at = 0; at < input.length; at += item) {
    const failure = failureOf(input.slice(at, at + item))
    if (failure !== undefined) return failure
  }
  return undefined
}

function attempt(run: () => Uint8Array): Uint8Array | undefined {
  try {
    return run()
  } catch {
    return undefined // not a point on the curve
  }
}

/** EIP-7951, from @ethereumjs/evm; it needs nothing of its EVM. */
function createP256Verify(gas: number): Precompile {
  const common = new Common({ chain: Mainnet, hardfork: Hardfork.Osaka })
  const verify = getActivePrecompiles(common).get('0000000000000000000000000000000000000100') as PrecompileFunc
  return {
    gas: () => gas,
    run: (input) => {
      const result = verify({ data: input.slice(), gasLimit: 6900n, common, _EVM: undefined as never })
      return (result as Awaited<typeof result>).returnValue
    },
  }
}

const WRONG_LENGTH = 'invalid input length'
const BLS_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n

const KZG_VERSION = 1
// EIP-4844: FIELD_ELEMENTS_PER_BLOB and BLS_MODULUS as words.
const POINT_EVALUATED = Buffer.from(
  `${'1000'.padStart(64, '0')}73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001`,
  'hex',
)

function evaluationFailure(input: Uint8Array): string {
  if (input.length !== 192) return WRONG_LENGTH
  if (!isCommittedTo(input)) return 'mismatched versioned hash'
  const isCanonical = [32, 64].every((at) => bytesToBigInt(input.subarray(at, at + 32)) < BLS_ORDER)
  const reason = isCanonical
    ? "can't verify opening proof"
    : 'scalar is not canonical when interpreted as a big integer in big-endian'
  return `error verifying kzg proof: ${reason}`
}

/** True if the commitment has the versioned hash at the start. */
function isCommittedTo(input: Uint8Array): boolean {
  const versioned = sha256(input.subarray(96, 144))
  versioned[0] = KZG_VERSION
  return equalBytes(versioned, input.subarray(0, 32))
}

/** EIP-4844, point_evaluation_precompile. */
function evaluatePoint(input: Uint8Array, verify: VerifyKzgProof): Uint8Array | undefined {
  if (input.length !== 192) return undefined
  if (!isCommittedTo(input)) return undefined
  const hex = (from: number, to: number) => `0x${Buffer.from(input.subarray(from, to)).toString('hex')}`
  try {
    const holds = verify(hex(96, 144), hex(32, 64), hex(64, 96), hex(144, 192))
    return holds ? Uint8Array.from(POINT_EVALUATED) : undefined
  } catch {
    return undefined // not points or scalars
  }
}

/** Bytes of an item, and why one is refused. */
type ItemFailure = readonly [bytes: number, failureOf: (item: Uint8Array) => string | undefined]

/** The scalar 1. */
const ONE = new Uint8Array(32).fill(1, 31)

/** EIP-2537. */
function blsPrecompiles(): Precompiles {
  const curve = new NobleBLS()
  const priced = (
    price: number,
    length: number,
    compute: (input: Uint8Array) => Uint8Array,
    [item, failureOf]: ItemFailure,
  ): Precompile => ({
    isLong: true, // adding points takes 2 ms
    gas: () => price,
    run: (input) =>
      input.length === length && isPadded(input, length) ? attempt(() => compute(input.slice())) : undefined,
    failure: (input) => (input.length === length ? firstFailure(input, item, failureOf) : WRONG_LENGTH),
  })
  /** A precompile over a list of items of `item` bytes, whose first `points` bytes are field elements. */
  const repeated = (
    item: number,
    points: number,
    gas: (count: number) => number,
    compute: (input: Uint8Array) => Uint8Array,
    failureOf: (item: Uint8Array) => string | undefined,
  ): Precompile => ({
    gas: ({ length }) => gas(Math.floor(length / item)),
    run: (input) => {
      if (input.length === 0 || input.length % item !== 0) return undefined
      for (let at = 0; at < input.length; at += item) if (!isPadded(input.subarray(at), points)) return undefined
      return attempt(() => compute(input.slice()))
    },
    failure: (input) => {
      if (input.length === 0 || input.length % item !== 0) return WRONG_LENGTH
      return firstFailure(input, item, failureOf)
    },
  })
  const first = (point: Uint8Array) => pointFailure(BLS12_381, point)
  const second = (point: Uint8Array) => twistPointFailure(BLS12_381, point)
  const element = (input: Uint8Array) => elementFailure(BLS12_381, input)
  const firstGroup = (product: Uint8Array) =>
    attempt(() => curve.msmG1(product)) ? undefined : 'g1 point is not on correct subgroup'
  const secondGroup = (product: Uint8Array) =>
    attempt(() => curve.msmG2(product)) ? undefined : 'g2 point is not on correct subgroup'
  const pairFailure = (pair: Uint8Array) => {
    const [g1, g2] = [pair.subarray(0, 128), pair.subarray(128)]
    const failure = first(g1) ?? second(g2)
    return failure ?? firstGroup(concatBytes(g1, ONE)) ?? secondGroup(concatBytes(g2, ONE))
  }
  return {
    11: priced(375, 256, (input) => curve.addG1(input), [128, first]),
    12: repeated(
      160,
      128,
      (count) => msmGas(count, 12_000, G1_DISCOUNTS),
      (input) => curve.msmG1(input),
      (product) => first(product.subarray(0, 128)) ?? firstGroup(product),
    ),
    13: priced(600, 512, (input) => curve.addG2(input), [256, second]),
    14: repeated(
      288,
      256,
      (count) => msmGas(count, 22_500, G2_DISCOUNTS),
      (input) => curve.msmG2(input),
      (product) => second(product.subarray(0, 256)) ?? secondGroup(product),
    ),
    15: repeated(
      384,
      384,
      (count) => 37_700 + 32_600 * count,
      (input) => curve.pairingCheck(input),
      pairFailure,
    ),
    16: priced(5500, 64, (input) => curve.mapFPtoG1(input), [64, element]),
    17: priced(23_800, 128, (input) => curve.mapFP2toG2(input), [128, element]),
  }
}

function msmGas(count: number, pointGas: number, discounts: readonly number[]): number {
  if (count === 0) return 0
  return Math.floor((count * pointGas * discounts[Math.min(count, discounts.length) - 1]) / 1000)
}

/** True if each field element (64 bytes) in the first `length` bytes starts with 16 zero bytes. */
function isPadded(input: Uint8Array, length: number): boolean {
  for (let at = 0; at < length; at += 64) {
    for (let i = 0; i < 16; i++) if (input[at + i] !== 0) return false
  }
  return true
}
