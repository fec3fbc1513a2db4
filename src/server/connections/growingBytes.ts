/** Bytes that come in pieces of any size. */
export interface GrowingBytes {
  append(piece: Uint8Array): void
  sizeBytes(): number
  /** Memory taken, up to twice the size. */
  capacityBytes(): number
  /** What came so far, valid until the next piece. */
  bytes(): Buffer
}

/** Collects pieces in one buffer that doubles: a list of pieces of one byte each would take 200 times their size. `maxBytes`
 *  is what may come at most. */
export function createGrowingBytes(maxBytes: number): GrowingBytes {
  let buffer = Buffer.alloc(0)
  let size = 0
  return {
    append(piece) {
      if (size + piece.length > buffer.length) {
        const capacity = Math.max(size + piece.length, Math.min(2 * buffer.length, maxBytes))
        const larger = Buffer.allocUnsafeSlow(capacity)
        buffer.copy(larger, 0, 0, size)
        buffer = larger
      }
      buffer.set(piece, size)
      size += piece.length
    },
    sizeBytes: () => size,
    capacityBytes: () => buffer.length,
    bytes: () => buffer.subarray(0, size),
  }
}
