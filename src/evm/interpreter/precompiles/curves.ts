import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { getActivePrecompiles, NobleBLS, NobleBN254, type PrecompileFunc } from '@ethereumjs/evm'
import { sha256 } from 'ethereum-cryptography/sha256.js'
import type { Rules } from '../../../chain/eth/forks.js'
import { equalBytes } from '../../../lib/bytes.js'
import { G1_DISCOUNTS, G2_DISCOUNTS } from './blsDiscounts.js'
import { fitted, type Precompile } from './precompile.js'
import { createPrecompileTable, type Precompiles } from './precompileTable.js'

/** Verifies a KZG proof (EIP-4844): true if the commitment's polynomial has the value `y` at `z`. Arguments are
 *  0x-prefixed hex. @throws Error for malformed arguments. */
export type VerifyKzgProof = (commitment: string, z: string, y: string, proof: string) => boolean

/** Precompiles of a fork by address, up to 0x100; undefined where there is none. `verifyKzgProof` is used from Cancun on. */
export function createPrecompiles(rules: Rules, verifyKzgProof: VerifyKzgProof): (Precompile | undefined)[] {
  return createPrecompileTable(rules, {
    bn254: bn254Precompiles,
    pointEvaluation: () => ({ gas: () => 50_000, run: (input) => evaluatePoint(input, verifyKzgProof) }),
    bls: blsPrecompiles,
    p256Verify: createP256Verify,
  })
}

/** EIP-196 and 197; `cheap`: prices of EIP-1108. */
function bn254Precompiles(cheap: boolean): Precompiles {
  const curve = new NobleBN254()
  const perPair = cheap ? 34_000 : 80_000
  return {
    6: { gas: () => (cheap ? 150 : 500), run: (input) => attempt(() => curve.add(fitted(input, 128))) },
    7: { gas: () => (cheap ? 6000 : 40_000), run: (input) => attempt(() => curve.mul(fitted(input, 96))) },
    8: {
      gas: ({ length }) => (cheap ? 45_000 : 100_000) + perPair * Math.floor(length / 192),
      run: (input) => (input.length % 192 !== 0 ? undefined : attempt(() => curve.pairing(input.slice()))),
    },
  }
}

function attempt(run: () => Uint8Array): Uint8Array | undefined {
  try {
    return run()
  } catch {
    return undefined // not a point on the curve
  }
}

/** EIP-7951, from @ethereumjs/evm; it needs nothing of its EVM. */
function createP256Verify(): Precompile {
  const common = new Common({ chain: Mainnet, hardfork: Hardfork.Osaka })
  const verify = getActivePrecompiles(common).get('0000000000000000000000000000000000000100') as PrecompileFunc
  return {
    gas: () => 6900,
    run: (input) => {
      const result = verify({ data: input.slice(), gasLimit: 6900n, common, _EVM: undefined as never })
      return (result as Awaited<typeof result>).returnValue
    },
  }
}

const KZG_VERSION = 1
// EIP-4844: FIELD_ELEMENTS_PER_BLOB and BLS_MODULUS as words.
const POINT_EVALUATED = Buffer.from(
  `${'1000'.padStart(64, '0')}73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001`,
  'hex',
)

/** EIP-4844, point_evaluation_precompile. */
function evaluatePoint(input: Uint8Array, verify: VerifyKzgProof): Uint8Array | undefined {
  if (input.length !== 192) return undefined
  const commitment = input.subarray(96, 144)
  const versioned = sha256(commitment)
  versioned[0] = KZG_VERSION
  if (!equalBytes(versioned, input.subarray(0, 32))) return undefined
  const hex = (from: number, to: number) => `0x${Buffer.from(input.subarray(from, to)).toString('hex')}`
  try {
    const holds = verify(hex(96, 144), hex(32, 64), hex(64, 96), hex(144, 192))
    return holds ? Uint8Array.from(POINT_EVALUATED) : undefined
  } catch {
    return undefined // not points or scalars
  }
}

/** EIP-2537. */
function blsPrecompiles(): Precompiles {
  const curve = new NobleBLS()
  const priced = (price: number, length: number, compute: (input: Uint8Array) => Uint8Array): Precompile => ({
    isLong: true, // adding points takes 2 ms
    gas: () => price,
    run: (input) =>
      input.length === length && isPadded(input, length) ? attempt(() => compute(input.slice())) : undefined,
  })
  /** A precompile over a list of items of `item` bytes, whose first `points` bytes are field elements. */
  const repeated = (
    item: number,
    points: number,
    gas: (count: number) => number,
    compute: (input: Uint8Array) => Uint8Array,
  ): Precompile => ({
    gas: ({ length }) => gas(Math.floor(length / item)),
    run: (input) => {
      if (input.length === 0 || input.length % item !== 0) return undefined
      for (let at = 0; at < input.length; at += item) if (!isPadded(input.subarray(at), points)) return undefined
      return attempt(() => compute(input.slice()))
    },
  })
  return {
    11: priced(375, 256, (input) => curve.addG1(input)),
    12: repeated(
      160,
      128,
      (count) => msmGas(count, 12_000, G1_DISCOUNTS),
      (input) => curve.msmG1(input),
    ),
    13: priced(600, 512, (input) => curve.addG2(input)),
    14: repeated(
      288,
      256,
      (count) => msmGas(count, 22_500, G2_DISCOUNTS),
      (input) => curve.msmG2(input),
    ),
    15: repeated(
      384,
      384,
      (count) => 37_700 + 32_600 * count,
      (input) => curve.pairingCheck(input),
    ),
    16: priced(5500, 64, (input) => curve.mapFPtoG1(input)),
    17: priced(23_800, 128, (input) => curve.mapFP2toG2(input)),
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
