import type { Deadline } from '../../../lib/deadline.js'
import type { Precompile } from './precompile.js'

const INPUT_LENGTH = 213 // EIP-152: rounds 4, h 64, m 128, t 16, f 1
const ROUNDS_BETWEEN_CHECKS = 0x4000

// Message word order of the ten rounds, then again from the first (RFC 7693, section 2.7).
const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]

// The fraction bits of the square roots of the first eight primes, low halves first (RFC 7693, section 2.6).
const IV = Int32Array.of(
  0xf3bcc908,
  0x6a09e667,
  0x84caa73b,
  0xbb67ae85,
  0xfe94f82b,
  0x3c6ef372,
  0x5f1d36f1,
  0xa54ff53a,
  0xade682d1,
  0x510e527f,
  0x2b3e6c1f,
  0x9b05688c,
  0xfb41bd6b,
  0x1f83d9ab,
  0x137e2179,
  0x5be0cd19,
)

/** The precompile at 9: the BLAKE2b compression function with any number of rounds (EIP-152). One gas per round, up to
 *  2^32 rounds, requires deadline checks. */
export function createBlake2(): Precompile {
  const isRight = (input: Uint8Array) => input.length === INPUT_LENGTH && input[INPUT_LENGTH - 1] <= 1
  const viewOf = ({ buffer, byteOffset, length }: Uint8Array) => new DataView(buffer, byteOffset, length)
  return {
    gas: (input) => (isRight(input) ? viewOf(input).getUint32(0) : 0),
    failure: ({ length }) => (length === INPUT_LENGTH ? 'invalid final flag' : 'invalid input length'),
    run: (input, deadline) => (isRight(input) ? compress(viewOf(input), deadline) : undefined),
  }
}

/** RFC 7693, section 3.2: function F. 64-bit words are pairs of 32-bit ones, the low one first. */
function compress(input: DataView, deadline: Deadline): Uint8Array {
  const v = new Int32Array(32)
  const m = new Int32Array(32)
  for (let i = 0; i < 16; i++) v[i] = input.getInt32(4 + 4 * i, true)
  v.set(IV, 16)
  for (let i = 0; i < 32; i++) m[i] = input.getInt32(68 + 4 * i, true)
  for (let i = 0; i < 4; i++) v[24 + i] ^= input.getInt32(196 + 4 * i, true)
  if (input.getUint8(INPUT_LENGTH - 1) === 1) {
    v[28] = ~v[28]
    v[29] = ~v[29]
  }
  const rounds = input.getUint32(0)
  for (let round = 0; round < rounds; round++) {
    const order = SIGMA[round % 10]
    mix(v, m, 0, 8, 16, 24, order[0], order[1])
    mix(v, m, 2, 10, 18, 26, order[2], order[3])
    mix(v, m, 4, 12, 20, 28, order[4], order[5])
    mix(v, m, 6, 14, 22, 30, order[6], order[7])
    mix(v, m, 0, 10, 20, 30, order[8], order[9])
    mix(v, m, 2, 12, 22, 24, order[10], order[11])
    mix(v, m, 4, 14, 16, 26, order[12], order[13])
    mix(v, m, 6, 8, 18, 28, order[14], order[15])
    if (round % ROUNDS_BETWEEN_CHECKS === 0) deadline.check()
  }
  const out = new Uint8Array(64)
  const view = new DataView(out.buffer)
  for (let i = 0; i < 16; i++) view.setInt32(4 * i, input.getInt32(4 + 4 * i, true) ^ v[i] ^ v[16 + i], true)
  return out
}

/** RFC 7693, section 3.1: function G on the words at a, b, c and d with the message words x and y. */
function mix(v: Int32Array, m: Int32Array, a: number, b: number, c: number, d: number, x: number, y: number): void {
  let sum = (v[a] >>> 0) + (v[b] >>> 0) + (m[2 * x] >>> 0)
  let aHigh = (v[a + 1] + v[b + 1] + m[2 * x + 1] + Math.floor(sum / 0x1_0000_0000)) | 0
  let aLow = sum | 0
  // d = (d ^ a) >>> 32
  let dLow = v[d + 1] ^ aHigh
  let dHigh = v[d] ^ aLow
  sum = (v[c] >>> 0) + (dLow >>> 0)
  let cHigh = (v[c + 1] + dHigh + (sum >= 0x1_0000_0000 ? 1 : 0)) | 0
  let cLow = sum | 0
  // b = (b ^ c) >>> 24
  let low = v[b] ^ cLow
  let high = v[b + 1] ^ cHigh
  let bLow = (low >>> 24) | (high << 8)
  let bHigh = (high >>> 24) | (low << 8)
  sum = (aLow >>> 0) + (bLow >>> 0) + (m[2 * y] >>> 0)
  aHigh = (aHigh + bHigh + m[2 * y + 1] + Math.floor(sum / 0x1_0000_0000)) | 0
  aLow = sum | 0
  // d = (d ^ a) >>> 16
  low = dLow ^ aLow
  high = dHigh ^ aHigh
  dLow = (low >>> 16) | (high << 16)
  dHigh = (high >>> 16) | (low << 16)
  sum = (cLow >>> 0) + (dLow >>> 0)
  cHigh = (cHigh + dHigh + (sum >= 0x1_0000_0000 ? 1 : 0)) | 0
  cLow = sum | 0
  // b = (b ^ c) >>> 63
  low = bLow ^ cLow
  high = bHigh ^ cHigh
  bLow = (low << 1) | (high >>> 31)
  bHigh = (high << 1) | (low >>> 31)
  v[a] = aLow
  v[a + 1] = aHigh
  v[b] = bLow
  v[b + 1] = bHigh
  v[c] = cLow
  v[c + 1] = cHigh
  v[d] = dLow
  v[d + 1] = dHigh
}
