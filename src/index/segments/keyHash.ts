/** Secret of a database's index keys: two 32-bit words. Untrusted parties choose the topics, and without the secret
 *  they cannot produce collisions. */
export type KeySecret = readonly [number, number]

/** Bits of the hash that the index keeps: bucket and fingerprint. Two keys of a segment collide once in 2^42 pairs;
 *  that costs row reads, never a wrong answer. */
export const KEY_BITS = 42
const LOW_BITS = KEY_BITS - 32

/** Hashes keys of (position, value). The result is in `high` (32 bits) and `low` (10 bits) until the next call. */
export interface KeyHasher {
  readonly high: number
  readonly low: number
  /** A value of at most 32 bytes, starting at `start`. */
  hashBytes(position: number, value: Uint8Array, start?: number): void
  /** A dictionary id. */
  hashId(position: number, id: number): void
}

/** HalfSipHash-2-4 with a 64-bit result (Aumasson and Bernstein, "SipHash: a fast short-input PRF"), truncated to the
 *  upper 42 bits: about 0.1 µs for 20 bytes. The position is hashed before the value. */
export function createKeyHasher(secret: KeySecret): KeyHasher {
  const state = { high: 0, low: 0 }
  // The message is assembled first and hashed in one loop over local variables, which stay in registers.
  const message = new Int32Array(12)
  const hashMessage = (words: number) => {
    let v0 = secret[0]
    let v1 = secret[1] ^ 0xee
    let v2 = secret[0] ^ 0x6c796765
    let v3 = secret[1] ^ 0x74656462
    // Two rounds per word, then four per half of the result.
    const rounds = words * 2
    for (let i = 0; i < rounds + 8; i++) {
      if (i < rounds) {
        if ((i & 1) === 0) v3 ^= message[i >> 1]
      } else if (i === rounds) v2 ^= 0xee
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      if (i < rounds) {
        if ((i & 1) === 1) v0 ^= message[i >> 1]
      } else if (i === rounds + 3) {
        state.high = v1 ^ v3 // signed: small integers need no heap object
        v1 ^= 0xdd
      }
    }
    state.low = (v1 ^ v3) >>> (32 - LOW_BITS)
  }
  return {
    get high() {
      return state.high >>> 0
    },
    get low() {
      return state.low
    },
    hashBytes: (position, value, start = 0) => {
      message[0] = position
      let words = 1
      let at = start
      for (; at + 4 <= value.length; at += 4) {
        message[words++] = value[at] | (value[at + 1] << 8) | (value[at + 2] << 16) | (value[at + 3] << 24)
      }
      let last = (value.length - start) << 24
      for (let shift = 0; at < value.length; at++, shift += 8) last |= value[at] << shift
      message[words++] = last
      hashMessage(words)
    },
    hashId: (position, id) => {
      message[0] = position
      message[1] = id | 0
      message[2] = Math.floor(id / 2 ** 32) | (1 << 30)
      hashMessage(3)
    },
  }
}
