/** A byte budget shared by many holders. */
export interface ByteBudget {
  /** A new holder with 0 bytes. */
  open(): Holding
  usedBytes(): number
}

/** The share of one holder. */
export interface Holding {
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
      let heldBytes = 0
      return {
        resize(bytes) {
          if (bytes > heldBytes && used + bytes - heldBytes > limitBytes) return false
          used += bytes - heldBytes
          heldBytes = bytes
          return true
        },
        release() {
          used -= heldBytes
          heldBytes = 0
        },
      }
    },
    usedBytes: () => used,
  }
}
