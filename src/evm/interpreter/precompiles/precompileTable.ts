import { hash } from 'node:crypto'
import { ripemd160 } from 'ethereum-cryptography/ripemd160.js'
import { keccak256, recoverPublicKey } from '../../../chain/crypto.js'
import type { Rules } from '../../../chain/eth/forks/rules.js'
import { createBlake2 } from './blake2.js'
import { createModexp } from './modexp.js'
import { fitted, type Precompile } from './precompile.js'

const NO_BYTES = new Uint8Array(0)
const wordsOf = (input: Uint8Array) => Math.ceil(input.length / 32)

/** Precompiles of a fork by address, up to 0x100; undefined for other addresses. Curve precompiles come from
 *  `curves`. */
export function createPrecompileTable(rules: Rules, curves: CurvePrecompiles): (Precompile | undefined)[] {
  const { modexpPricing, modexpMaxLength, eip1108, p256VerifyGas, precompileMaxInputs } = rules
  const known: Precompiles = {
    1: { gas: () => 3000, run: recoverAddress },
    2: { gas: (input) => 60 + 12 * wordsOf(input), run: (input) => hash('sha256', input, 'buffer') },
    3: { gas: (input) => 600 + 120 * wordsOf(input), run: hashRipemd },
    4: { gas: (input) => 15 + 3 * wordsOf(input), run: (input) => input },
    5: createModexp({ pricing: modexpPricing, maxLength: modexpMaxLength }),
    ...curves.bn254(eip1108),
    9: createBlake2(),
    10: curves.pointEvaluation(),
    ...curves.bls(),
    256: curves.p256Verify(p256VerifyGas),
  }
  const out: (Precompile | undefined)[] = new Array(0x101).fill(undefined)
  for (const [address] of rules.precompiles) out[address] = known[address]
  for (const [address, most] of Object.entries(precompileMaxInputs)) {
    const limited = out[Number(address)]
    if (limited !== undefined) out[Number(address)] = withMaxInput(limited, most, TOO_LONG[Number(address)])
  }
  return out
}

/** Why an input above the maximum is refused, in op-geth's words. */
const TOO_LONG: { readonly [address: number]: string } = {
  8: 'bad elliptic curve pairing input size',
  12: 'g1 msm input size exceeds maximum',
  14: 'g2 msm input size exceeds maximum',
  15: 'pairing input size exceeds maximum',
}

/** Refuses inputs of more than `most` bytes. */
function withMaxInput(precompile: Precompile, most: number, tooLong: string): Precompile {
  return {
    isLong: precompile.isLong,
    gas: (input) => precompile.gas(input),
    run: (input, deadline) => (input.length > most ? undefined : precompile.run(input, deadline)),
    failure: (input) => (input.length > most ? tooLong : precompile.failure?.(input)),
  }
}

/** Precompiles by address. */
export interface Precompiles {
  [address: number]: Precompile
}

/** Curve precompiles, which need large packages. */
export interface CurvePrecompiles {
  /** 6 to 8; `cheap`: prices of EIP-1108. */
  bn254(cheap: boolean): Precompiles
  pointEvaluation(): Precompile
  /** 11 to 17. */
  bls(): Precompiles
  /** 256, at that price. */
  p256Verify(gas: number): Precompile
}

const LONG: Precompile = { isLong: true, gas: () => 0, run: () => undefined }
const longOnes = (from: number, to: number): Precompiles =>
  Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [from + i, LONG]))

/** Placeholders at the addresses of the curve precompiles, for machines whose budget never starts long work. */
export const NO_CURVES: CurvePrecompiles = {
  bn254: () => longOnes(6, 8),
  pointEvaluation: () => LONG,
  bls: () => longOnes(11, 17),
  p256Verify: () => LONG,
}

function recoverAddress(input: Uint8Array): Uint8Array {
  const data = fitted(input, 128)
  const v = data[63]
  if ((v !== 27 && v !== 28) || data.subarray(32, 63).some((byte) => byte !== 0)) return NO_BYTES
  try {
    const key = recoverPublicKey(data.subarray(0, 32), v - 27, data.subarray(64, 96), data.subarray(96, 128))
    return keccak256(key).fill(0, 0, 12)
  } catch {
    return NO_BYTES // no key can have made this signature
  }
}

function hashRipemd(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(32)
  out.set(ripemd160(input), 12)
  return out
}
