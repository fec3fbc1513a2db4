/** Pseudo-random numbers that are the same for the same seed (mulberry32), so that a failing test fails again. */
export interface SeededRandom {
  /** An integer in [0, limit). */
  below(limit: number): number
  /** `length` bytes. */
  bytes(length: number): Uint8Array
}

/** A generator for the seed. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const below = (limit: number) => Math.floor((next() / 2 ** 32) * limit)
  return { below, bytes: (length) => Uint8Array.from({ length }, () => below(256)) }
}
