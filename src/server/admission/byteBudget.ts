/** A byte budget shared by many holders. */
export interface ByteBudget {
  /** A new holder with 0 bytes. */
  open(): ByteShare
  usedBytes(): number
}

/** The share of one holder. */
export interface ByteShare {
  /** Sets the holder's size in bytes, replacing the previous size. Returns false, without a change, when the budget is
   *  exhausted. */
  resize(bytes: number): boolean
  /** Releases everything. */
  release(): void
}

/** A budget of `limitBytes`. */
export function createByteBudget(limitBytes: number): ByteBudget {
  let used = 0
  return {
    open() {
      let bytesUsed = 0
      return {
        resize(bytes) {
          if (bytes > bytesUsed && used + bytes - bytesUsed > limitBytes) return false
          used += bytes - bytesUsed
          bytesUsed = bytes
          return true
        },
        release() {
          used -= bytesUsed
          bytesUsed = 0
        },
      }
    },
    usedBytes: () => used,
  }
}
