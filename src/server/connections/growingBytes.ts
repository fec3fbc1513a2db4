/** A buffer that grows by appending. */
export interface GrowingBytes {
  append(piece: Uint8Array): void
  sizeBytes(): number
  /** Allocated memory, up to twice the size. */
  capacityBytes(): number
  /** The bytes so far, valid until the next append. */
  bytes(): Buffer
}

/** Appends chunks to one doubling buffer. A list of one-byte chunks would take 200 times their size. `maxBytes` is the
 *  largest total. */
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
