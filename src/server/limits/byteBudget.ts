/** Bytes that many holders share. */
export interface ByteBudget {
  /** A holder that has nothing yet. */
  open(): Holding
  usedBytes(): number
}

/** What one holder has of a budget. */
export interface Holding {
  /** Holds so many bytes from now on, whatever it held before; false, and no change, when the budget does not have them. */
  resize(bytes: number): boolean
  /** Holds nothing any more. */
  release(): void
}

/** A budget of `limitBytes`. */
export function createByteBudget(limitBytes: number): ByteBudget {
  let used = 0
  return {
    open() {
      let held = 0
      return {
        resize(bytes) {
          if (bytes > held && used + bytes - held > limitBytes) return false
          used += bytes - held
          held = bytes
          return true
        },
        release() {
          used -= held
          held = 0
        },
      }
    },
    usedBytes: () => used,
  }
}
