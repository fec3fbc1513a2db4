import { keccak256, signHash } from '../../src/chain/crypto.js'
import { concatBytes } from '../../src/lib/bytes.js'
import type { SeededRandom } from '../../test/support/random.js'
import { addressOfPrivateKey } from '../../test/support/signing.js'

/** An address of a precompile and an input that is mostly right for it. */
export function precompileInput(random: SeededRandom): { address: number; input: Uint8Array } {
  const kind = random.below(9)
  const spoil = (input: Uint8Array) => {
    if (random.below(5) === 0 && input.length > 0) input[random.below(input.length)] ^= 1 << random.below(8)
    return random.below(10) === 0 ? input.slice(0, random.below(input.length + 1)) : input
  }
  if (kind === 0) return { address: 1, input: spoil(signature(random)) }
  if (kind === 1) return { address: 5, input: spoil(powerInput(random)) }
  if (kind === 2) return { address: 6, input: spoil(concatBytes(bn254Point(random), bn254Point(random))) }
  if (kind === 3) return { address: 7, input: spoil(concatBytes(bn254Point(random), random.bytes(32))) }
  if (kind === 4) return { address: 8, input: spoil(pairs(random)) }
  if (kind === 5) return { address: 9, input: spoil(blakeInput(random)) }
  if (kind === 6)
    return { address: 11, input: spoil(concatBytes(BLS_G1, random.below(2) === 0 ? BLS_G1 : new Uint8Array(128))) }
  if (kind === 7) return { address: 12, input: spoil(concatBytes(BLS_G1, random.bytes(32))) }
  return { address: 16, input: spoil(concatBytes(new Uint8Array(17), random.bytes(47))) }
}

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const word = (value: number) => hex(value.toString(16).padStart(64, '0'))

function signature(random: SeededRandom): Uint8Array {
  const key = keccak256(random.bytes(4))
  const hash = addressOfPrivateKey(key)
  const message = concatBytes(new Uint8Array(12), hash)
  const { r, s, recoveryId } = signHash(message, key)
  return concatBytes(message, word(27 + (random.below(4) === 0 ? random.below(3) : recoveryId)), r, s)
}

function powerInput(random: SeededRandom): Uint8Array {
  const lengths = Array.from({ length: 3 }, () => [0, 1, 2, 8, 31, 32, 33, 40][random.below(8)])
  return concatBytes(...lengths.map(word), ...lengths.map((length) => random.bytes(length)))
}

const BN254_POINTS = [
  new Uint8Array(64),
  concatBytes(word(1), word(2)),
  // The generator negated.
  concatBytes(word(1), hex('30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd45')),
]

function bn254Point(random: SeededRandom): Uint8Array {
  return BN254_POINTS[random.below(BN254_POINTS.length)]
}

// The generator of the second group of EIP-197.
const BN254_G2 = hex(
  `
  198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2
  1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed
  090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b
  12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa`.replaceAll('\n', ''),
)

function pairs(random: SeededRandom): Uint8Array {
  const parts: Uint8Array[] = []
  for (let i = random.below(3); i > 0; i--) {
    parts.push(bn254Point(random), random.below(4) === 0 ? new Uint8Array(128) : BN254_G2)
  }
  return concatBytes(...parts)
}

function blakeInput(random: SeededRandom): Uint8Array {
  const input = random.bytes(213)
  input.set([0, 0, 0, random.below(40)])
  input[212] = random.below(8) === 0 ? input[212] : random.below(2)
  return input
}

// The generator of the first group of EIP-2537.
const BLS_G1 = hex(
  `${'00'.repeat(16)}
  17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb
  ${'00'.repeat(16)}
  08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1`.replaceAll(
    '\n',
    '',
  ),
)
